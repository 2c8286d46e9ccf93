// Readiness while a node starts: it is ready once all its listeners are open, not before.
import dns from 'node:dns'
import { connect } from 'node:net'
import { expect, test, vi } from 'vitest'
import { readConfig } from '#config.ts'
import { startNode } from '#node/start.ts'
import { freePorts } from '../../reliability/service.ts'
import { silent, startTestNode, until } from '../support/node.ts'

test('a node is not ready before its second listener is open', async () => {
  const node = await startTestNode()
  const [port] = (await freePorts(1)) as [number]
  const config = readConfig({
    DATABASE_URL: node.databaseUrl,
    PORT: String(port),
    OPERATOR_HOST: 'nowhere.invalid',
    SECRET_KEY: 'secret key of all the tests',
    START_FILE_MINUTES: '0',
  })
  const lookup = holdLookups('nowhere.invalid')
  const start = startNode({ config, db: node.db, log: silent, listeners: { public: true, operator: true }, worker: true }).then(
    () => 'started',
    (error: Error) => error.message,
  )
  await until('the second listener looks for its address', () => lookup.held())
  expect(await readiness(port)).toBe('HTTP/1.1 503 Service Unavailable')
  lookup.release()
  expect(await start).toContain('nowhere.invalid')
  expect(await readiness(port)).toBe('')
  await node.close()
})

/** Delays lookups of this host name until `release`. */
function holdLookups(host: string): { held: () => boolean; release: () => void } {
  const original = dns.lookup
  const waiting: (() => void)[] = []
  const spy = vi.spyOn(dns, 'lookup').mockImplementation(((name: string, ...rest: unknown[]) => {
    const look = () => (original as (...args: unknown[]) => void)(name, ...rest)
    if (name === host) waiting.push(look)
    else look()
  }) as never)
  return {
    held: () => waiting.length > 0,
    release: () => {
      spy.mockRestore()
      for (const look of waiting) look()
    },
  }
}

/** First line of the response; empty if there is none. */
function readiness(port: number): Promise<string> {
  return new Promise((resolve) => {
    let answer = ''
    const socket = connect(port, '127.0.0.1')
    socket.write('GET /health/ready HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    socket.on('data', (bytes) => (answer += bytes.toString()))
    socket.on('error', () => {}).on('close', () => resolve(answer.split('\r\n', 1)[0]!))
  })
}
