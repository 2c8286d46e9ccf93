// Hosts the console's built pages under /console, from memory, with headers that let them run nothing but themselves.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '#core/errors.ts'

const FOLDER = fileURLToPath(new URL('../../dist/console', import.meta.url))
const INDEX = 'index.html'

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

// Pictures of cards lie on their sources' servers; everything else is our own.
const HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data: https: http:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
}

const NOT_BUILT = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Mintmark console</title>
<h1>The console is not built</h1><p>Run <code>npm ci</code> in the checkout, which builds it, and start again.</p></html>`

interface Page {
  body: Buffer
  gzip: Buffer
  type: string
  etag: string
}

/** Registers the pages; unknown paths below /console get the first page, which finds its own way. */
export function addConsole(app: FastifyInstance, folder = FOLDER): void {
  const pages = readPages(folder)
  const index = pages.get(INDEX) ?? page(INDEX, Buffer.from(NOT_BUILT))
  const hide = { schema: { hide: true } as object }
  app.get('/', hide, (_request, reply) => reply.redirect('/console'))
  app.get('/console', hide, (request, reply) => send(request, reply, index))
  app.get<{ Params: { '*': string } }>('/console/*', hide, (request, reply) => {
    const path = request.params['*']
    const found = pages.get(path)
    if (!found && path.startsWith('assets/')) throw new ServiceError('NOT_FOUND', `There is no ${request.url}`)
    // Names of assets change with their content.
    if (found && found !== index) reply.header('cache-control', 'public, max-age=31536000, immutable')
    return send(request, reply, found ?? index)
  })
}

function send(request: FastifyRequest, reply: FastifyReply, { body, gzip, type, etag }: Page): FastifyReply {
  reply.headers({ ...HEADERS, etag, vary: 'accept-encoding' }).type(type)
  if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-cache')
  if (request.headers['if-none-match'] === etag) return reply.code(304).send()
  if (!/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) return reply.send(body)
  return reply.header('content-encoding', 'gzip').send(gzip)
}

function readPages(folder: string): Map<string, Page> {
  const pages = new Map<string, Page>()
  for (const path of filesBelow(folder)) {
    const name = relative(folder, path).replaceAll('\\', '/')
    pages.set(name, page(name, readFileSync(path)))
  }
  return pages
}

function page(name: string, body: Buffer): Page {
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 16)}"`
  return { body, gzip: gzipSync(body, { level: 9 }), type: TYPES[extname(name)] ?? 'application/octet-stream', etag }
}

function filesBelow(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
    return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
