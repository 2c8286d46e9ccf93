// The converters of the catalogue sources guide: a small checkout of each source, in its layout, is converted and imported.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { importFiles, startTestNode, type TestNode } from '../support/node.ts'

let node: TestNode
let checkout: string

beforeAll(async () => {
  node = await startTestNode({ listeners: 'none' })
  checkout = mkdtempSync(join(tmpdir(), 'catalogue-source-'))
})
afterAll(async () => {
  await node.close()
  rmSync(checkout, { recursive: true })
})

function write(files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(checkout, path)), { recursive: true })
    writeFileSync(join(checkout, path), text)
  }
}

function convert(program: string, folder: string) {
  return spawnSync(process.execPath, [`examples/catalogue-sources/${program}`, join(checkout, folder)], { encoding: 'utf8' })
}

const itemsOf = (prefix: string) =>
  node.db.kysely
    .selectFrom('items')
    .innerJoin('categories', 'categories.id', 'items.category_id')
    .select(['items.ref', 'items.name', 'items.code', 'categories.name as set'])
    .where('items.ref', 'like', `${prefix}%`)
    .orderBy('items.ref')
    .execute()

const card = (name: string, localId: string) => `import { Card } from '../../../interfaces'
import Set from '../Base Set'

const card: Card = {
	name: {
		en: "${name}",
		fr: "${localId} fr"
	},
	set: Set,
	rarity: "Rare",
	category: "Pokemon",
	hp: 120,
	thirdParty: { cardmarket: 273699 }
}

export default card
`

test("TCGdex's program files become series, sets and cards", async () => {
  write({
    'cards-database/data/Base.ts': `import { Serie } from '../interfaces'\n\nconst serie: Serie = {\n\tid: "base",\n\tname: { en: "Base" }\n}\n\nexport default serie\n`,
    'cards-database/data/Base/Base Set.ts': `import { Set } from '../../interfaces'\nimport serie from '../Base'\n
const set: Set = {\n\tid: "base1",\n\tname: { en: "Base Set" },\n\tserie: serie,\n\tcardCount: { official: 102 },\n\treleaseDate: "1999-01-09"\n}\n
export default set\n`,
    'cards-database/data/Base/Base Set/4.ts': card('Charizard', '4'),
    'cards-database/data/Base/Base Set/%3F.ts': card('Unown', '?'),
    'cards-database/data/Base/Base Set/5.ts': 'export default missing\n',
  })
  const { status, stdout, stderr } = convert('tcgdex.js', 'cards-database/data')
  expect([status, stderr]).toEqual([1, 'Base/Base Set/5.ts: missing is not defined\n'])
  const { counts } = await importFiles(node, 'tcgdex', [{ name: 'tcgdex', text: stdout }])
  expect(counts).toMatchObject({ rejected: 0 })
  expect(await itemsOf('tcgdex:')).toEqual([
    { ref: 'tcgdex:base1-%3F', name: 'Unown', code: '?', set: 'Base Set' },
    { ref: 'tcgdex:base1-4', name: 'Charizard', code: '4/102', set: 'Base Set' },
  ])
})

test('cards of punk-records become lines, whether a file contains one card or a pack', async () => {
  const luffy = { id: 'ST01-001', pack_id: '569001', name: 'Monkey.D.Luffy', rarity: 'Leader', category: 'Leader', colors: ['Red'], types: [] }
  const packs = JSON.stringify({ 569001: { id: '569001', raw_title: 'Straw Hat Crew', title_parts: { label: 'ST-01', title: 'Straw Hat Crew' } } })
  write({
    'punk-records/english/cards/569001.json': JSON.stringify([luffy]),
    'punk-records/english/cards/569001/ST01-001.json': JSON.stringify(luffy),
    'punk-records/english/cards/569001/ST01-002.json': JSON.stringify({ ...luffy, id: 'ST01-002', name: 'Usopp' }),
  })
  const { status, stdout } = convert('punk-records.js', 'punk-records/english')
  expect(status).toBe(0)
  await importFiles(node, 'punk-records', [
    { name: 'packs.json', text: packs },
    { name: 'cards.ndjson', text: stdout },
  ])
  expect(await itemsOf('punk-records:')).toEqual([
    { ref: 'punk-records:en:ST01-001', name: 'Monkey.D.Luffy', code: 'ST01-001', set: 'Straw Hat Crew [ST-01]' },
    { ref: 'punk-records:en:ST01-002', name: 'Usopp', code: 'ST01-002', set: 'Straw Hat Crew [ST-01]' },
  ])
})

test('files of pokemon-tcg-data are imported as they are', async () => {
  await importFiles(node, 'pokemontcg', [
    { name: 'sets/en.json', text: JSON.stringify([{ id: 'dp1', name: 'Diamond & Pearl', series: 'Diamond & Pearl', printedTotal: 130 }]) },
    { name: 'cards/en/dp1.json', text: JSON.stringify([{ id: 'dp1-3', name: 'Electivire', supertype: 'Pokémon', number: '3' }], null, 2) },
  ])
  expect(await itemsOf('pokemontcg:')).toEqual([{ ref: 'pokemontcg:dp1-3', name: 'Electivire', code: '3/130', set: 'Diamond & Pearl' }])
})

test('the sealed products of TCGCSV become a list, without its cards', async () => {
  const product = (productId: number, name: string, extendedData: object[]) => ({ productId, name, imageUrl: '', groupId: 1863, extendedData })
  const results = [
    product(243052, 'Box "Elite", Case', [{ name: 'CardText', value: 'Contains boosters' }]),
    product(2, 'Pikachu', [{ name: 'Number', value: '1/100' }]),
    product(3, 'Code Card', [{ name: 'Rarity', value: 'Code Card' }]),
  ]
  write({ 'products-1863.json': JSON.stringify({ success: true, results }) })
  const { stdout } = convert('tcgcsv.js', 'products-1863.json')
  await importFiles(node, 'tcgplayer-sealed', [{ name: 'sealed.csv', text: stdout }])
  expect(await itemsOf('tcgplayer:')).toEqual([{ ref: 'tcgplayer:243052', name: 'Box "Elite", Case', code: null, set: 'Pokémon Sealed' }])
})
