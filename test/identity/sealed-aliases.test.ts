// Aliases of sealed products that an operator adds: what they join, now and in later imports, and why they are rejected.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { register } from '#cli/match.ts'
import type { MatchReport } from '#identity/match-catalogue.ts'
import { runCommand } from '../support/command-line.ts'
import { importText, startTestNode, type TestNode } from '../support/node.ts'

let node: TestNode
const dir = mkdtempSync(join(tmpdir(), 'mintmark-aliases-'))

const cardmarket = (id: number, name: string) =>
  JSON.stringify({ products: [{ idProduct: id, name, idCategory: 53, categoryName: 'Pokémon Box Set' }] })
const tcgplayer = (id: number, name: string) => `productId,name,imageUrl,set_code\n${id},${name},,1\n`

beforeAll(async () => {
  node = await startTestNode({ listeners: 'none' })
  await importText(node, 'cardmarket-products', cardmarket(1, 'Celebrations Sammelbox'))
  await importText(node, 'tcgplayer-sealed', tcgplayer(2, 'Celebrations Collection'))
})

afterAll(async () => {
  await node.close()
  rmSync(dir, { recursive: true, force: true })
})

const items = async () => (await node.db.kysely.selectFrom('items').select('name').orderBy('id').execute()).map(({ name }) => name)

async function match(content: string, ...args: string[]): Promise<MatchReport> {
  const file = join(dir, 'aliases.json')
  writeFileSync(file, content)
  const { text } = await runCommand(node, [register], ['match', '--sealed-aliases', file, '--json', ...args])
  return JSON.parse(text) as MatchReport
}

test('a dry run reports the resulting matches, and stores nothing', async () => {
  const { worlds } = await match('{"Sammelbox": "collection"}', '--dry-run')
  expect(worlds).toMatchObject([{ world: 'sealed', merged: 1 }])
  expect(await match('{}', '--dry-run')).toMatchObject({ worlds: [{ world: 'sealed', merged: 0 }] })
  expect(await items()).toHaveLength(2)
})

test('they match products now and in later imports', async () => {
  expect(await match('{"Sammelbox": "collection"}')).toMatchObject({ worlds: [{ merged: 1 }] })
  expect(await items()).toHaveLength(1)
  await importText(node, 'cardmarket-products', cardmarket(3, 'Evolutions Sammelbox'))
  const { counts } = await importText(node, 'tcgplayer-sealed', tcgplayer(4, 'Evolutions Collection'))
  expect(counts).toMatchObject({ created: 0, rejected: 0 })
  expect(await items()).toHaveLength(2)
})

test.each([
  ['text that is not JSON', 'not JSON', /aliases\.json cannot be read: /],
  ['a list', '["a"]', /aliases\.json must be a JSON object of strings/],
  ['a number as a meaning', '{"a": 1}', /aliases\.json must be a JSON object of strings/],
  ['words without a word', '{" ": "box"}', /sealed_aliases\.0\.words must be text of 1 to 200 characters/],
  ['a long meaning', JSON.stringify({ a: 'x'.repeat(300) }), /sealed_aliases\.0\.means must be text of at most 200 characters/],
  ['a control character', JSON.stringify({ a: 'x\0' }), /sealed_aliases\.0\.means must be text of at most 200 characters/],
  ['too many', JSON.stringify(Object.fromEntries(Array.from({ length: 1_001 }, (_, n) => [`a${n}`, 'b']))), /sealed_aliases must /],
])('an invalid file is rejected and changes nothing: %s', async (_what, content, why) => {
  await expect(match(content)).rejects.toThrow(why)
  expect(await items()).toHaveLength(2)
  expect(await node.db.kysely.selectFrom('sealed_aliases').selectAll().execute()).toEqual([{ words: 'Sammelbox', means: 'collection' }])
})
