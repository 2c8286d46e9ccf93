// A source of images for tests: a real HTTP server on loopback that counts its requests and responds as configured.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Answer = (request: IncomingMessage, response: ServerResponse) => void

export type ImageServer = Awaited<ReturnType<typeof openImageServer>>

/** An image of this type and content. */
export const image =
  (content: Buffer, type = 'image/png'): Answer =>
  (_request, response) =>
    void response.writeHead(200, { 'content-type': type, 'content-length': content.length }).end(content)

export const status =
  (code: number): Answer =>
  (_request, response) =>
    void response.writeHead(code, { 'content-type': 'image/png' }).end('x')

export const redirect =
  (location: string): Answer =>
  (_request, response) =>
    void response.writeHead(302, { location }).end()

/** Responds with 404 for unknown paths. */
export async function openImageServer() {
  const answers = new Map<string, Answer>()
  const requested: string[] = []
  const server = createServer((request, response) => {
    requested.push(request.url!)
    ;(answers.get(request.url!) ?? status(404))(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    /** sets the response of a path. @returns its address */
    at: (path: string, answer: Answer): string => {
      answers.set(path, answer)
      return url + path
    },
    /** number of requests for a path */
    askedFor: (path: string) => requested.filter((one) => one === path).length,
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
  }
}
