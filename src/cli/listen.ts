// The command `listen`: a webhook receiver for development that verifies and prints notifications and sends a chosen response.
import { timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Command, InvalidArgumentError } from 'commander'
import { delay, machineNow } from '#core/process/time-and-chance.ts'
import { parseDuration } from '#core/duration.ts'
import { signatureOf } from '#webhooks/delivery/sign.ts'
import { addCommand, type OpenCli, type OutputOptions, type Print, wholeNumber } from './terminal/command.ts'

interface ListenOptions extends OutputOptions {
  port: number
  host: string
  secret: string
  status: number
  delay: number
}

const MAX_BODY_BYTES = 1024 * 1024

export function register(program: Command, _open: OpenCli, print: Print): void {
  addCommand(program, 'listen', 'receive webhooks, verify their signatures and print them')
    .requiredOption('--secret <secret>', 'secret of the webhook, from GET /api/v1/plus/webhook')
    .option('--port <number>', 'port to listen on, 0 for any free one', port, 9000)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--status <code>', 'response status for verified webhooks', statusCode, 200)
    .option('--delay <duration>', 'delay before the response, such as 6s', duration, 0)
    .action((options: ListenOptions) => listen(options, print))
}

/** Listens until a signal. */
async function listen(options: ListenOptions, print: Print): Promise<void> {
  const server = createServer((request, response) => {
    // Webhooks use POST: any other request only checks whether a server listens.
    if (request.method !== 'POST')
      return void response.writeHead(405, { allow: 'POST', 'content-type': 'text/plain' }).end('Listening for webhooks; use POST\n')
    receive(request, options).then(
      async (received) => {
        print(options.json ? JSON.stringify(received) : describeRequest(received))
        if (received.verified) await delay(options.delay)
        response.writeHead(received.status, { 'content-type': 'text/plain' }).end(received.verified ? 'received\n' : `${received.problem}\n`)
      },
      () => response.destroy(),
    )
  })
  server.listen(options.port, options.host)
  await once(server, 'listening')
  const address = server.address() as AddressInfo
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address
  if (!options.json) print(`Listening on http://${host}:${address.port} (press Ctrl-C to stop); set this URL with PUT /api/v1/plus/webhook`)
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
  server.close()
  server.closeAllConnections()
}

interface Received {
  at: string
  verified: boolean
  problem: string | null
  /** the response to send */
  status: number
  webhook_id: string | null
  /** whether it is a test delivery */
  test: boolean
  body: unknown
}

async function receive(request: IncomingMessage, { secret, status }: ListenOptions): Promise<Received> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_BODY_BYTES) throw new Error('too large')
    chunks.push(chunk)
  }
  const raw = Buffer.concat(chunks)
  const signature = request.headers['x-service-signature']
  const problem =
    typeof signature !== 'string'
      ? 'X-Service-Signature is missing'
      : matches(signature, signatureOf(secret, raw))
        ? null
        : 'the signature does not match'
  return {
    at: machineNow().toISOString(),
    verified: problem === null,
    problem,
    status: problem === null ? status : 401,
    webhook_id: (request.headers['webhook-id'] as string | undefined) ?? null,
    test: request.headers['webhook-test'] === 'true',
    body: parsed(raw.toString('utf8')),
  }
}

/** Compares in constant time. */
function matches(received: string, expected: string): boolean {
  const [a, b] = [Buffer.from(received), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function describeRequest({ at, verified, problem, status, webhook_id: id, test, body }: Received): string {
  const verdict = verified ? '✓ verified' : `✗ ${problem}`
  return `${at.slice(11, 19)}  ${verdict}  ${id ?? '-'}${test ? ' (test)' : ''}  → ${status}\n${JSON.stringify(body, null, 2)}`
}

function port(text: string): number {
  const number = wholeNumber(text)
  if (number > 65_535) throw new InvalidArgumentError('Must be a port from 0 to 65535.')
  return number
}

function statusCode(text: string): number {
  const code = wholeNumber(text)
  if (code < 200 || code > 599) throw new InvalidArgumentError('Must be a status from 200 to 599.')
  return code
}

function duration(text: string): number {
  const ms = parseDuration(text)
  if (ms === null) throw new InvalidArgumentError('Must be a number with a unit, such as 500ms, 6s or 2m.')
  return ms
}
