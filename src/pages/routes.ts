// The pages of the public listener: developer page, guides, changelog, the overview for language models, and the client.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Plan } from '#core/plans.ts'
import { demoKeyFor } from '#http/demo-key.ts'
import { sendBy } from '#http/fastify-adapter.ts'
import { registerOtherMethods } from '#http/routes.ts'
import { notFound } from '#core/errors.ts'
import { builtScript } from './built-script.ts'
import { guidePage } from './guide-page.ts'
import { type Guide, GUIDES_PATH, type Guides, readGuides, repositoryBytes, repositoryFile } from './guides.ts'
import { homePage } from './home.ts'
import { type EndpointMap, llmsText } from './llms.ts'

export interface PagesNode {
  config: { publicUrl: string | null; rateLimits: Record<Plan, number> | null }
  /** key of the demo to show; null outside the demo */
  demoKey: string | null
}

const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
const GUIDE_POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
const HOST = /^[\w.:[\]-]{1,255}$/
const ASSETS: Record<string, string> = { 'guides.css': 'text/css; charset=utf-8', 'guides.js': 'text/javascript; charset=utf-8' }
/** Scripts for web pages of any origin, by address: files of `dist`. */
const SCRIPTS = { '/client.js': 'client/client.js', '/price-chart.js': 'price-chart/price-chart.js' }
const MARKDOWN = 'text/markdown; charset=utf-8'
const hidden = { schema: { hide: true } as object }

/** Adds the pages to the public listener. */
export function addPages(app: FastifyInstance, { config, demoKey }: PagesNode, map: EndpointMap): void {
  const urlOf = ({ headers: { host = '' }, protocol }: FastifyRequest) => config.publicUrl ?? `${protocol}://${HOST.test(host) ? host : 'localhost'}`
  const get = (path: string, answer: (request: FastifyRequest, reply: FastifyReply) => unknown) => {
    app.get(path, hidden, answer)
    registerOtherMethods(app, path, ['GET'])
  }
  /** The key to show; responses that contain it are not cached. */
  const keyFor = (request: FastifyRequest, reply: FastifyReply) => {
    if (demoKey !== null) reply.header('cache-control', 'no-store')
    return demoKeyFor(request, demoKey)
  }
  get('/', (request, reply) => {
    reply.header('content-security-policy', POLICY).type('text/html; charset=utf-8')
    return homePage({ url: urlOf(request), demoKey: keyFor(request, reply), rateLimits: config.rateLimits })
  })
  for (const [path, file] of Object.entries(SCRIPTS)) {
    const script = builtScript(path, file)
    get(path, (request, reply) => sendBy(reply, script(request.headers['if-none-match'])))
  }
  let read: Guides | null = null
  const guides = () => (read ??= readGuides())
  const found = (request: FastifyRequest, name: string): Guide => {
    const guide = guides().pages.get(name)
    if (!guide) throw notFound('no_route', { method: request.method, path: request.url.split('?', 1)[0]! })
    return guide
  }
  get('/changelog', (_request, reply) => reply.type(MARKDOWN).send(repositoryFile('CHANGELOG.md')))
  get('/llms.txt', (request, reply) => reply.type('text/plain; charset=utf-8').send(llmsText(urlOf(request), map, guides().pages.values())))
  get(GUIDES_PATH, (_request, reply) => reply.redirect(`${GUIDES_PATH}/api-guide`))
  get(`${GUIDES_PATH}/search.json`, () => guides().sections)
  get(`${GUIDES_PATH}/assets/:name`, (request, reply) => {
    const { name } = request.params as { name: string }
    const type = Object.hasOwn(ASSETS, name) ? ASSETS[name] : undefined
    if (type === undefined) return found(request, '')
    return reply
      .type(type)
      .header('cache-control', 'no-cache')
      .send(repositoryFile(`src/pages/${name}`))
  })
  get(`${GUIDES_PATH}/files/*`, (request, reply) => {
    const { '*': path } = request.params as { '*': string }
    if (!guides().files.has(path)) return found(request, '')
    if (path.endsWith('.png')) return reply.type('image/png').send(repositoryBytes(path))
    return reply.type(path.endsWith('.md') ? MARKDOWN : 'text/plain; charset=utf-8').send(repositoryFile(path))
  })
  get(`${GUIDES_PATH}/:name`, (request, reply) => {
    const { name } = request.params as { name: string }
    if (name.endsWith('.md')) return reply.type(MARKDOWN).send(found(request, name.slice(0, -3)).markdown)
    const guide = found(request, name)
    reply.header('content-security-policy', GUIDE_POLICY).type('text/html; charset=utf-8')
    return guidePage({ guide, all: guides().pages.values(), url: urlOf(request), demoKey: keyFor(request, reply) })
  })
}
