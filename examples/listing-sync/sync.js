// Synchronises your listings with your stock: MINTMARK_URL=... MINTMARK_KEY=... node sync.js stock.json
import { readFileSync } from 'node:fs'
import { Mintmark, MintmarkError } from '@mintmark/client'

const { MINTMARK_URL: baseUrl = 'http://127.0.0.1:8080', MINTMARK_KEY: apiKey } = process.env
if (!apiKey) throw new Error('Set MINTMARK_KEY to a key of a Plus account')

const mintmark = new Mintmark({ baseUrl, apiKey })
const stock = new Map(JSON.parse(readFileSync(process.argv[2] ?? 'stock.json', 'utf8')).map((row) => [row.listing_id, row]))
const done = { price: 0, pause: 0, publish: 0, failed: 0 }

async function change(listing, what, send) {
  try {
    const { data } = await send({ path: { id: listing.id } })
    done[what] += 1
    console.log(`${listing.title}: ${what}, now ${data.status}`)
  } catch (error) {
    if (!(error instanceof MintmarkError)) throw error
    done.failed += 1
    console.error(`${listing.title}: ${what} failed: ${error.code}: ${error.message}`)
  }
}

for await (const listing of mintmark.all('/api/v1/plus/my-listings')) {
  const row = stock.get(listing.id)
  if (!row) continue
  if (row.price !== listing.price) {
    await change(listing, 'price', (params) => mintmark.patch('/api/v1/plus/listings/{id}/price', { params, body: { price: row.price } }))
  }
  const action = row.quantity === 0 && listing.status === 'active' ? 'pause' : row.quantity > 0 && listing.status === 'paused' ? 'publish' : null
  if (action) {
    await change(listing, action, (params) => mintmark.post('/api/v1/plus/listings/{id}/status', { params: { ...params, query: { action } } }))
  }
}
console.log(`${done.price} prices changed, ${done.pause} paused, ${done.publish} published, ${done.failed} failed`)
process.exitCode = done.failed > 0 ? 1 : 0
