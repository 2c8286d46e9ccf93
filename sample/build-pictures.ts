// Draws the pictures of the sample catalogue into dist/sample-pictures, where both listeners serve them: `npm ci` runs it.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type Drawn, drawPicture } from './draw-picture.ts'

const FOLDER = new URL('../dist/sample-pictures/', import.meta.url)

rmSync(FOLDER, { recursive: true, force: true })
mkdirSync(FOLDER, { recursive: true })
for (const name of ['pokemon.ndjson', 'onepiece.ndjson']) {
  for (const line of readFileSync(new URL(name, import.meta.url), 'utf8').trimEnd().split('\n')) {
    const record = JSON.parse(line) as Drawn & { type: string }
    if (record.type === 'item') writeFileSync(new URL(`${record.slug}.svg`, FOLDER), drawPicture(record))
  }
}
