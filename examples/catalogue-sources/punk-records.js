// Writes the cards of a punk-records language folder as NDJSON: node punk-records.js <folder> > cards.ndjson
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const folder = join(process.argv[2] ?? 'english', 'cards')
// Each file contains one card, or an array with the cards of a pack; a checkout may have both.
const seen = new Set()
for (const path of readdirSync(folder, { recursive: true })) {
  if (!path.endsWith('.json')) continue
  for (const card of [JSON.parse(readFileSync(join(folder, path), 'utf8'))].flat()) {
    const key = `${card.pack_id} ${card.id}`
    if (seen.has(key)) continue
    seen.add(key)
    process.stdout.write(`${JSON.stringify(card)}\n`)
  }
}
