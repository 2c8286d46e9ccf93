// Receives Mintmark webhooks and stores each event once: WEBHOOK_SECRET=... node server.js
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import express from 'express'
import { verifyWebhook } from '@mintmark/client'

const { WEBHOOK_SECRET: secret, PORT = '9000', EVENTS = 'events.ndjson' } = process.env
if (!secret) throw new Error('Set WEBHOOK_SECRET to the secret that PUT /plus/webhook answered')

const lines = existsSync(EVENTS) ? readFileSync(EVENTS, 'utf8').trim().split('\n').filter(Boolean) : []
const processed = new Set(lines.map((line) => JSON.parse(line).id))

const app = express()
// The signature covers the raw bytes: no JSON parser may touch them first.
app.post('/webhook', express.raw({ type: '*/*' }), async (request, response) => {
  const event = await verifyWebhook(request.body ?? '', request.headers, secret)
  if (!event) return response.sendStatus(401)
  const id = request.headers['webhook-id']
  const isTest = request.headers['webhook-test'] === 'true'
  if (!isTest && !processed.has(id)) {
    // Store first, respond second: an event that received a 2xx response is never sent again.
    appendFileSync(EVENTS, `${JSON.stringify({ id, ...event })}\n`)
    processed.add(id)
    console.log(event.event === 'sale' ? `Sold ${event.data.quantity} × ${event.data.item_name}` : `Expired: ${event.data.title}`)
  }
  response.sendStatus(204)
})

const server = app.listen(Number(PORT), '127.0.0.1', () => console.log(`Listening on http://127.0.0.1:${server.address().port}/webhook`))
