// Writes the sealed products of TCGCSV's product files as CSV: node tcgcsv.js <file...> > sealed.csv
import { readFileSync } from 'node:fs'

const COLUMNS = ['productId', 'name', 'imageUrl', 'set_code']
const cell = (value) => `"${String(value ?? '').replaceAll('"', '""')}"`

console.log(COLUMNS.join())
for (const file of process.argv.slice(2)) {
  for (const { extendedData = [], groupId, ...product } of JSON.parse(readFileSync(file, 'utf8')).results) {
    // Cards have a number or, as code cards, a rarity.
    if (extendedData.some(({ name }) => name === 'Number' || name === 'Rarity')) continue
    console.log(COLUMNS.map((column) => cell({ ...product, set_code: groupId }[column])).join())
  }
}
