// A server that stands for the public sources in tests: a mirror whose answers each test writes, and what it was asked.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Answer = (request: IncomingMessage, response: ServerResponse) => void

export interface SourceServer {
  /** for SOURCES_MIRROR_URL */
  url: string
  /** the answer to requests of a path, such as `/files.example/a.json`; a list answers one request after another, the last one all others */
  on: (path: string, ...answers: Answer[]) => void
  /** method, path and the headers that decide about the answer, of each request */
  asked: { path: string; range?: string; ifRange?: string; ifNoneMatch?: string; userAgent?: string }[]
  close: () => Promise<void>
}

export async function openSourceServer(): Promise<SourceServer> {
  const answers = new Map<string, Answer[]>()
  const asked: SourceServer['asked'] = []
  const server = createServer((request, response) => {
    const path = request.url!
    const { range, 'if-range': ifRange, 'if-none-match': ifNoneMatch, 'user-agent': userAgent } = request.headers
    asked.push({
      path,
      ...(range && { range }),
      ...(ifRange && { ifRange: String(ifRange) }),
      ...(ifNoneMatch && { ifNoneMatch }),
      ...(userAgent && { userAgent }),
    })
    const list = answers.get(path) ?? []
    const answer = list.length > 1 ? list.shift() : list[0]
    if (answer) answer(request, response)
    else response.writeHead(404).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    on: (path, ...list) => answers.set(path, list),
    asked,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** A file with a tag: answers conditions and ranges as a good server does. */
export function file(
  content: string | Buffer,
  { type = 'application/json', etag = tagOf(content), headers = {} as Record<string, string> } = {},
): Answer {
  const bytes = Buffer.from(content)
  return ({ headers: asked }, response) => {
    const common = { 'content-type': type, etag, 'accept-ranges': 'bytes', ...headers }
    if (asked['if-none-match'] === etag) return void response.writeHead(304, common).end()
    const start = Number(/^bytes=(\d+)-$/.exec(asked.range ?? '')?.[1] ?? Number.NaN)
    if (Number.isNaN(start) || asked['if-range'] !== etag)
      return void response.writeHead(200, { ...common, 'content-length': bytes.length }).end(bytes)
    const range = `bytes ${start}-${bytes.length - 1}/${bytes.length}`
    response.writeHead(206, { ...common, 'content-range': range, 'content-length': bytes.length - start }).end(bytes.subarray(start))
  }
}

/** The first bytes of a file; the connection breaks once the client has `stored` them. */
export function broken(content: string, sent: number, stored: () => number, { etag = tagOf(content) } = {}): Answer {
  return (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', etag, 'content-length': content.length }).write(content.slice(0, sent))
    const timer = setInterval(() => {
      if (stored() !== sent) return
      clearInterval(timer)
      response.destroy()
    }, 5)
  }
}

export function status(code: number, headers: Record<string, string> = {}): Answer {
  return (_request, response) => void response.writeHead(code, headers).end()
}

export function tagOf(content: string | Buffer): string {
  return `"${createHash('sha256').update(content).digest('hex').slice(0, 16)}"`
}
