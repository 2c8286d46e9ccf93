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

  // Over the raw bytes, before the body is parsed, and compared in constant time.
  const expected = Buffer.from(createHmac('sha256', secret).update(raw).digest('hex'))
  const given = Buffer.from(String(request.headers['x-service-signature'] ?? ''))
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
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

  const id = String(request.headers['webhook-id'])
  if (processed.has(id)) return
  processed.add(id)
  const { event, data } = JSON.parse(raw.toString('utf8'))
  console.log(id, event, JSON.stringify(data))
})
server.listen(port, '127.0.0.1', () =>
  console.log(`listening on http://127.0.0.1:${(server.address() as { port: number }).port}`),
)
