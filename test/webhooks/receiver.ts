// Receivers for tests: real HTTP servers on loopback that record what they receive and respond as configured.
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Db } from '#db/schema.ts'
import { inTransaction } from '#db/connection/transaction.ts'
import { emitSales } from '#webhooks/emit.ts'

export interface Received {
  method: string
  path: string
  headers: IncomingHttpHeaders
  body: Buffer
  atMs: number
  /** number of open requests when this one had arrived, including it */
  open: number
}

export type Behaviour = (request: IncomingMessage, response: ServerResponse, count: number) => void

export const ok: Behaviour = (_request, response) => void response.end('thanks')
export const status =
  (code: number, body = ''): Behaviour =>
  (_request, response) =>
    void response.writeHead(code).end(body)
export const silence: Behaviour = () => {}

export type Receiver = Awaited<ReturnType<typeof openReceiver>>

/** Its path is its own: a retry for a closed receiver of another test, whose port it may have, is not recorded. */
export async function openReceiver(first: Behaviour = ok) {
  const ownPath = `/hook/${randomUUID()}`
  const received: Received[] = []
  let behaviour = first
  let open = 0
  let mostOpen = 0
  const server = createServer((request, response) => {
    if (!request.url?.startsWith(ownPath)) return void response.writeHead(404).end()
    open += 1
    mostOpen = Math.max(mostOpen, open)
    response.on('close', () => (open -= 1))
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request
      received.push({ method, path, headers, body: Buffer.concat(chunks), atMs: Date.now(), open })
      behaviour(request, response, received.length)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}${ownPath}`,
    port,
    received,
    get mostOpen() {
      return mostOpen
    },
    behave: (next: Behaviour) => (behaviour = next),
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Sells order lines in one transaction, like an order. */
export async function sell(on: { db: Db }, accountId: number, count = 1, orderId = 1): Promise<void> {
  const now = new Date()
  const sales = Array.from({ length: count }, (_, i) => ({
    accountId,
    orderId,
    listingId: i + 1,
    itemName: 'Charizard ✨',
    quantity: 2,
    unitPriceKurus: 12_345,
    payoutKurus: 22_221,
    soldAt: now,
  }))
  await inTransaction(on.db, (tx) => emitSales(tx, { now, zone: 'Europe/Istanbul' }, sales))
}
