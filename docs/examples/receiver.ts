// Receives webhooks: WEBHOOK_SECRET=... node receiver.ts [port]   (Node 24 or newer, no packages needed)
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'

const secret = process.env.WEBHOOK_SECRET!
const port = Number(process.argv[2] ?? 9000)
// Deliveries may repeat: remember the ids that were processed (in your database, not in memory as here).
const processed = new Set<string>()

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const raw = Buffer.concat(chunks)

  // Over the raw bytes, before the body is parsed, and compared in constant time. The signature covers id and time, too: a request that
  // somebody recorded is refused after five minutes.
  const header = (name: string) => String(request.headers[name] ?? '')
  const id = header('webhook-id')
  const timestamp = header('webhook-timestamp')
  const expected = Buffer.from(`v1,${createHmac('sha256', secret).update(`${id}.${timestamp}.`).update(raw).digest('base64')}`)
  const isGenuine = header('webhook-signature')
    .split(' ')
    .map((one) => Buffer.from(one))
    .some((signature) => signature.length === expected.length && timingSafeEqual(signature, expected))
  const isFresh = Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300
  if (!isGenuine || !isFresh) {
    response.writeHead(401).end()
    return
  }

  // Answer at once; long work comes afterwards.
  response.writeHead(204).end()

  // Test deliveries hold made-up data: book nothing.
  if (request.headers['webhook-test'] === 'true') {
    console.log('test delivery')
    return
  }

  if (processed.has(id)) return
  processed.add(id)
  const { event, data } = JSON.parse(raw.toString('utf8'))
  console.log(id, event, JSON.stringify(data))
})
server.listen(port, '127.0.0.1', () =>
  console.log(`listening on http://127.0.0.1:${(server.address() as { port: number }).port}`),
)
