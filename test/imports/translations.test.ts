// French One Piece cards: the printings that are those of English cards are the same items, the others items of their own.
import { type Kysely, sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { call } from '#core/verb.ts'
import { up } from '#db/migrations/20261128_110000_french_cards.ts'
import { matchCatalogue } from '#identity/match-catalogue.ts'
import { neighbourhoodOf } from '#identity/records/neighbourhood.ts'
import { importFiles, importText, OPERATOR_TOKEN, type Reply, send, startTestNode, type TestNode } from '../support/node.ts'
import { exported, exportedItems } from './one-card.ts'

let node: TestNode

beforeEach(async () => {
  node = await startTestNode()
})
afterEach(() => node.close())

const pack = (id: string, label: string | null, title: string) => ({ id, raw_title: title, title_parts: { prefix: null, title, label } })
const card = (id: string, packId: string, name: string, rarity = 'Rare') => ({
  id,
  pack_id: packId,
  name,
  rarity,
  category: 'Character',
  colors: ['Red'],
  cost: 4,
  power: 5000,
})
type File = { packs: ReturnType<typeof pack>[]; cards: ReturnType<typeof card>[] }
const ENGLISH: File = {
  packs: [pack('569113', 'OP-13', 'CARRYING ON HIS WILL'), pack('569301', 'PRB-01', 'THE BEST'), pack('569901', null, 'Promotion card')],
  cards: [
    card('OP13-001', '569113', 'Monkey.D.Luffy'),
    card('OP13-002', '569113', 'Ace'),
    card('OP13-002_p1', '569113', 'Ace'),
    card('OP13-002_p2', '569113', 'Ace', 'Special'),
    card('OP01-006_p1', '569301', 'Otama'),
    card('P-101', '569901', 'Tony Tony.Chopper'),
    card('P-101_p1', '569901', 'Tony Tony.Chopper'),
  ],
}
const FRENCH: File = {
  packs: [pack('622113', 'OP-13', 'SUCCESSEURS'), pack('622301', 'PRB-01', 'THE BEST'), pack('622901', null, 'Carte promo')],
  cards: [
    card('OP13-001', '622113', 'Monkey D. Luffy'),
    card('OP13-002', '622113', 'Portgas aux poings ardents'),
    card('OP13-002_p1', '622113', 'Ace'),
    card('OP13-002_p2', '622113', 'Ace', 'SecretRare'),
    card('OP01-006_p1', '622301', 'O-Tama'),
    card('P-101', '622901', 'Tony-Tony Chopper'),
    card('P-101_p1', '622901', 'Tony-Tony Chopper'),
  ],
}
/** The printings that are the same; the others are a rarity, a set or a promo apart. */
const SAME = ['OP13-001', 'OP13-002', 'OP13-002_p1', 'P-101']

const importCards = (to: TestNode, { packs, cards }: File) =>
  importFiles(to, 'punk-records', [
    { name: 'packs', text: JSON.stringify(Object.fromEntries(packs.map((each) => [each.id, each]))) },
    { name: 'cards', text: cards.map((each) => `${JSON.stringify(each)}\n`).join('') },
  ])

const operator = <T>(path: string, json?: unknown): Promise<Reply<T>> =>
  send<T>(`${node.operatorUrl}/operator/v1${path}`, OPERATOR_TOKEN, {
    method: json === undefined ? 'GET' : 'POST',
    ...(json !== undefined && { json }),
  })

/** Ids of items by ref. */
async function items(of = node): Promise<Record<string, number>> {
  const { rows } = await sql<{ id: number; ref: string }>`select id, ref from items`.execute(of.db.kysely)
  return Object.fromEntries(rows.map(({ id, ref }) => [ref.replace('punk-records:', ''), id]))
}

test('the same printing is one item with its languages, names and ids, in either order', async () => {
  await importCards(node, ENGLISH)
  const english = await items()
  expect((await importCards(node, FRENCH)).counts).toMatchObject({ created: 3 + 4, updated: SAME.length, rejected: 0 })
  const ids = await items()
  expect(ids).toMatchObject(english)
  const french = ENGLISH.cards.map(({ id }) => id).filter((id) => !SAME.includes(id))
  expect(Object.keys(ids).filter((ref) => ref.startsWith('fr:'))).toEqual(french.map((id) => `fr:${id}`))
  const { body } = await send<{ name: string; attributes: object[] }>(`${node.publicUrl}/api/v1/items/${ids['en:OP13-001']}`, node.keys.professional)
  expect(body.data).toMatchObject({ id: ids['en:OP13-001'], name: 'Monkey.D.Luffy' })
  expect(body.data.attributes).toContainEqual(expect.objectContaining({ name: 'Language', value: 'English, French' }))
  const search = await send<{ id: number }[]>(`${node.publicUrl}/api/v1/items?search=poings+ardents`, node.keys.professional)
  expect(search.body.data.map(({ id }) => id)).toEqual([ids['en:OP13-002']])
  const stored = (await exportedItems(node)).find(({ ref }) => ref === 'punk-records:en:OP13-001')
  expect(stored).toMatchObject({
    details: { names: ['Monkey D. Luffy'] },
    foreign_ids: [
      { source: 'punk-records', id: 'en:OP13-001' },
      { source: 'punk-records', id: 'fr:OP13-001' },
    ],
  })

  const other = await startTestNode({ listeners: 'operator' })
  try {
    await importCards(other, FRENCH)
    const first = await items(other)
    await importCards(other, ENGLISH)
    expect(await exportedItems(other)).toEqual(await exportedItems(node))
    // The item that came first keeps its id.
    expect((await items(other))['en:OP13-001']).toBe(first['fr:OP13-001'])
  } finally {
    await other.close()
  }
})

test('a French list finds its cards by number and name', async () => {
  await importCards(node, ENGLISH)
  await importCards(node, FRENCH)
  const rename = { method: 'PATCH', json: { name: 'Petite Tama' } }
  await send(`${node.operatorUrl}/operator/v1/items/${(await items())['fr:OP01-006_p1']}`, OPERATOR_TOKEN, rename)
  const list =
    'no,name,kind,price\nOP13-001,Monkey D. Luffy,,2.5\nOP01-006,O-Tama,Parallel 1,7\nOP01-006,Otama,Parallel 1,9\nOP01-006,Petite Tama,Parallel 1,8\n'
  const mapping = { market: 'source_b', currency: 'EUR', map: 'price=price,number=no,name=name,finish=kind,game==onepiece,language==fr' }
  const { counts } = await importText(node, 'prices-csv', list, { input: mapping })
  expect(counts).toMatchObject({ rowsRead: 4, rejected: 1 })
  const { rows } = await sql`select ref, price from prices join items on id = item_id order by price`.execute(node.db.kysely)
  expect(rows).toEqual([
    { ref: 'punk-records:en:OP13-001', price: '2.50' },
    { ref: 'punk-records:fr:OP01-006_p1', price: '8.00' },
  ])
})

test('reverting either import leaves what the other states, and restoring it joins them again', async () => {
  const english = await importCards(node, ENGLISH)
  const before = await exported(node)
  const french = await importCards(node, FRENCH)
  const both = await exported(node)
  const ids = await items()
  const undone = await operator<{ id: number }>(`/imports/${french.id}/revert`, {})
  expect(await exported(node)).toBe(before)
  await operator(`/imports/${undone.body.data.id}/revert`, {})
  expect(await exported(node)).toBe(both)

  await operator('/prices', [{ item_id: ids['en:OP13-001'], market: 'source_b', label: 'Near Mint', price: 5, updated_at: '2026-10-01T00:00:00Z' }])
  const without = await operator<{ id: number }>(`/imports/${english.id}/revert`, {})
  expect(await items()).toMatchObject({ 'fr:OP13-001': ids['en:OP13-001'], 'fr:OP13-002_p1': ids['en:OP13-002_p1'] })
  await operator(`/imports/${without.body.data.id}/revert`, {})
  expect(await items()).toMatchObject({ 'en:OP13-001': ids['en:OP13-001'], 'en:OP13-002_p1': ids['en:OP13-002_p1'] })
})

test('cards of an earlier version are merged unless they are in use or kept apart', async () => {
  // As in an earlier version, all cards are apart; then the decisions are removed, except one.
  await sql`insert into match_decisions (kind, a, b, author)
    select 'apart', e'punk-records\ten:' || card || e'\t' || finish, e'punk-records\tfr:' || card || e'\t' || finish, 'test'
    from (values ('OP13-001', 'normal'), ('OP13-002', 'normal'), ('OP13-002_p1', 'parallel-1'), ('P-101', 'normal')) c(card, finish)`.execute(
    node.db.kysely,
  )
  await importCards(node, ENGLISH)
  await importCards(node, FRENCH)
  await sql`update source_records set world = 'onepiece-fr' where foreign_id like 'fr:%'`.execute(node.db.kysely)
  await up(node.db.kysely as Kysely<unknown>)
  const before = await items()
  expect(Object.keys(before)).toHaveLength(ENGLISH.cards.length + FRENCH.cards.length)
  await operator('/prices', [
    { item_id: before['fr:OP13-002'], market: 'source_b', label: 'Near Mint', price: 5, updated_at: '2026-10-01T00:00:00Z' },
  ])
  // A decision about the French set would also match the English one again.
  const onePiece = { game: 'onepiece', world: 'onepiece-en' }
  const around = await node.db.kysely.transaction().execute((tx) => neighbourhoodOf(tx, onePiece, { refs: ['punk-records:pack:622113'] }))
  expect(around!.setRefs.toSorted()).toEqual(['punk-records:pack:569113', 'punk-records:pack:622113'])
  await sql`delete from match_decisions where a not like '%P-101%'`.execute(node.db.kysely)

  await call(matchCatalogue, node.ctx, {})
  const { 'fr:OP13-001': one, 'fr:OP13-002_p1': other, ...rest } = before
  expect(await items()).toEqual(rest)
  const get = (id: number) => send<{ id: number }>(`${node.publicUrl}/api/v1/items/${id}`, node.keys.professional)
  expect((await get(one!)).body.data.id).toBe(before['en:OP13-001'])
  expect((await get(other!)).body.data.id).toBe(before['en:OP13-002_p1'])

  // An operator merges the item in use, and it stays merged.
  expect((await operator(`/items/${before['fr:OP13-002']}/merge`, { into: before['en:OP13-002'] })).status).toBe(200)
  const after = await exported(node)
  expect(await call(matchCatalogue, node.ctx, {})).toMatchObject({
    worlds: expect.arrayContaining([expect.objectContaining({ game: 'onepiece', merged: 0 })]),
  })
  await importCards(node, FRENCH)
  expect(await exported(node)).toBe(after)

  // An operator separates a record, and it stays separate.
  const split = { source: 'punk-records', foreign_id: 'fr:OP13-001' }
  expect((await operator(`/items/${before['en:OP13-001']}/split`, split)).status).toBe(200)
  const apart = await exported(node)
  expect((await items())['fr:OP13-001']).toBe(one)
  await call(matchCatalogue, node.ctx, {})
  await importCards(node, FRENCH)
  expect(await exported(node)).toBe(apart)
})
