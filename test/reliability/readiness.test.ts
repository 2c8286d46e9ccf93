// Readiness while a node starts: it is ready once all its listeners are open, not before.
import { pbkdf2 } from 'node:crypto'
import { connect, createServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { readConfig } from '#config.ts'
import { startNode } from '#node.ts'
import { silent, startTestNode } from '../support/node.ts'

test('a node is not ready before its second listener is open', async () => {
  const node = await startTestNode()
  const port = await freePort()
  const config = readConfig({
    DATABASE_URL: node.databaseUrl,
    PORT: String(port),
    OPERATOR_HOST: 'nowhere.invalid',
    SECRET_KEY: 'secret key of all the tests',
  })
  let starting = true
  keepLookupsBusy(() => starting)
  const start = startNode({ config, db: node.db, log: silent, listeners: { public: true, operator: true }, worker: true })
    .then(
      () => 'started',
      (error: Error) => error.message,
    )
    .finally(() => (starting = false))
  const answers = new Set<string>()
  while (starting) answers.add(await readiness(port))
  expect(await start).not.toBe('started')
  expect([...answers].filter(Boolean)).toEqual(['HTTP/1.1 503 Service Unavailable'])
  await node.close()
})

/** Makes the lookup of a host name take a while: it waits for a thread of those that hash. */
function keepLookupsBusy(busy: () => boolean): void {
  const hash = () => void (busy() && pbkdf2('', '', 200_000, 32, 'sha256', hash))
  for (let i = 0; i < 8; i += 1) hash()
}

/** First line of the answer, empty if nothing answers. */
function readiness(port: number): Promise<string> {
  return new Promise((resolve) => {
    let answer = ''
    const socket = connect(port, '127.0.0.1')
    socket.write('GET /health/ready HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    socket.on('data', (bytes) => (answer += bytes.toString()))
    socket.on('error', () => {}).on('close', () => resolve(answer.split('\r\n', 1)[0]!))
  })
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  return port
}
