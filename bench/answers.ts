// Checks single responses of a server before anything is measured.
import type { Server } from './processes.ts'

export interface Given {
  status: number
  text: string
  bytes: number
}

/** A server's response to a line of a requests file. */
export async function answerTo(
  server: Pick<Server, 'url'>,
  key: string,
  request: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Given> {
  const [method, path, body] = request.includes('\t') ? request.split('\t') : ['GET', request, undefined]
  const headers: Record<string, string> = { ...more, 'accept-encoding': 'identity' }
  if (key !== '') headers['authorization'] = `Bearer ${key}`
  if (body !== undefined) headers['content-type'] = 'application/json'
  const response = await fetch(`${server.url}${path}`, { method, headers, body })
  const text = await response.text()
  return { status: response.status, text, bytes: Buffer.byteLength(text) }
}

/**
 * The JSON of a response.
 * @throws Error unless the response is a success
 */
export async function dataOf<T>(server: Server, key: string, request: string): Promise<T> {
  const { status, text } = await answerTo(server, key, request)
  if (status < 200 || status > 299) throw new Error(`${request} answered ${status}: ${text.slice(0, 300)}`)
  return JSON.parse(text) as T
}

/** `count` elements spread evenly over a list. */
export function spread<T>(list: readonly T[], count: number): T[] {
  const step = Math.max(1, Math.ceil(list.length / count))
  return list.filter((_, i) => i % step === 0)
}
