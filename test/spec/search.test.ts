// The ranked search over HTTP: folding, ranks in order, typos, collector numbers as people type them, and paging.
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fold } from '#index/fold.ts'
import { importText, type Reply, send, startTestNode, type TestNode } from '../support/node.ts'
import { rulesIn } from '../support/reasons.ts'

interface Found {
  id: number
  name: string
  code: string | null
  market: string
  game: string
  category: { id: number; name: string }
}

/** name, code and category of the items that the tests search for; a separate game keeps the sample apart */
const CARDS: readonly [name: string, code: string | null, category: string][] = [
  ['Zarif Kaplan', 'OPAL', 'Test Set'],
  ['Opal', '900', 'Test Set'],
  ['opal', '901', 'Test Set'],
  ['Opal Wyvern', '902', 'Test Set'],
  ['Opal Amulet', '903', 'Test Set'],
  ['Wyvern of Opalescence', '904', 'Test Set'],
  ['Amulet, Opaline', '905', 'Test Set'],
  ['Fifth Member', '906', 'Opal Vault'],
  ['Megaopal', '907', 'Test Set'],
  ['Archopal', '908', 'Test Set'],
  ['Opel Rider', '909', 'Test Set'],
  ['Ospal Rider', '910', 'Test Set'],
  ['Éclair Pâtissier', '911', 'Test Set'],
  ['İSTANBUL Işığı', '912', 'Test Set'],
  ['Şövalye Çağrısı Gücü', '913', 'Test Set'],
  ["Farfetch'd", '914', 'Test Set'],
  ['Mew', '915', 'Test Set'],
  ['Tyrannosaur', '4/102', 'Test Set'],
  ['Triceratops', '4/130', 'Test Set'],
  ['Stegosaur', '004/165', 'Test Set'],
  ['Diplodocus', '14/102', 'Test Set'],
  ['Captain', 'OP01-001', 'Test Set'],
  ['Navigator', 'OP01-010', 'Test Set'],
  ['Doctor', 'OP11-001', 'Test Set'],
  ['Promo Card', 'SWSH020', 'Test Set'],
  ['Gallery Card', 'TG12/TG30', 'Test Set'],
]

let node: TestNode

beforeAll(async () => {
  node = await startTestNode({ listeners: 'public' })
  const empty = { images: [], attributes: [], groups: [], details: {}, foreign_ids: [] }
  const lines = [
    ...[...new Set(CARDS.map(([, , category]) => category))].map((name) => {
      return { type: 'category', market: 'service', ref: name, name, game: 'tests', parent: null, image: null }
    }),
    ...CARDS.map(([name, code, category], i) => {
      const place = { genre: 'single', game: 'tests', category }
      return { type: 'item', market: 'service', ref: `t:${i}`, name, code, ...place, ...empty }
    }),
  ]
  const own = await importText(node, 'mintmark-ndjson', lines.map((line) => JSON.stringify(line)).join('\n'))
  expect(own.errors).toEqual([])
  for (const name of ['pokemon', 'onepiece']) {
    await importText(node, 'mintmark-ndjson', readFileSync(`sample/${name}.ndjson`, 'utf8'))
  }
})

afterAll(() => node.close())

function search(query: Record<string, string | number>): Promise<Reply<Found[]>> {
  const text = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]))
  return send<Found[]>(`${node.publicUrl}/api/v1/items/search?${text}`, node.keys.professional)
}

/** Names found among the items created for the tests, in order. */
async function names(q: string): Promise<string[]> {
  const { status, body } = await search({ q, game: 'tests', per_page: 100 })
  expect(status).toBe(200)
  return body.data.map((item) => item.name)
}

async function codes(q: string): Promise<(string | null)[]> {
  return (await search({ q, game: 'tests', per_page: 100 })).body.data.map((item) => item.code)
}

describe('ranks', () => {
  test('exact code, exact name, name prefix, word prefix, infix, typo; ties by name, then id', async () => {
    expect(await names('opal')).toEqual([
      'Zarif Kaplan',
      'Opal',
      'opal',
      'Opal Amulet',
      'Opal Wyvern',
      'Amulet, Opaline',
      'Fifth Member',
      'Wyvern of Opalescence',
      'Archopal',
      'Megaopal',
      'Opel Rider',
      'Ospal Rider',
    ])
  })

  test('every word must match name, code or category name', async () => {
    expect(await names('opal wyvern')).toEqual(['Opal Wyvern', 'Wyvern of Opalescence'])
    expect(await names('wyvern opal')).toEqual(['Opal Wyvern', 'Wyvern of Opalescence'])
    expect(await names('fifth vault')).toEqual(['Fifth Member'])
    expect(await names('captain OP01-001')).toEqual(['Captain'])
    expect(await names('test 915')).toEqual(['Mew'])
    expect(await names('opal tyrannosaur')).toEqual([])
  })

  test('in the sample, the card itself comes before cards that only contain its name', async () => {
    const { body } = await search({ q: 'Charizard', market: 'source_c' })
    const found = body.data.map((item) => fold(item.name))
    const exact = found.filter((name) => name === 'charizard').length
    expect(exact).toBeGreaterThan(0)
    expect(found.slice(0, exact)).toEqual(Array.from({ length: exact }, () => 'charizard'))
    const starts = found.map((name) => name.startsWith('charizard'))
    expect(starts).toEqual([...starts].sort((a, b) => Number(b) - Number(a)))
  })
})

describe('folding', () => {
  test.each([
    ['eclair patissier', 'Éclair Pâtissier'],
    ['ÉCLAIR PÂTISSIER', 'Éclair Pâtissier'],
    ['e\u0301clair', 'Éclair Pâtissier'],
    ['istanbul', 'İSTANBUL Işığı'],
    ['ıstanbul', 'İSTANBUL Işığı'],
    ['İstanbul', 'İSTANBUL Işığı'],
    ['ISTANBUL ISIGI', 'İSTANBUL Işığı'],
    ['ışığı', 'İSTANBUL Işığı'],
    ['isigi', 'İSTANBUL Işığı'],
    ['sovalye cagrisi gucu', 'Şövalye Çağrısı Gücü'],
    ['ŞÖVALYE ÇAĞRISI GÜCÜ', 'Şövalye Çağrısı Gücü'],
    ['farfetchd', "Farfetch'd"],
    ['farfetch’d', "Farfetch'd"],
    ['Ｏｐａｌ Ｗｙｖｅｒｎ', 'Opal Wyvern'],
  ])('%s finds %s', async (q, name) => {
    expect((await names(q))[0]).toBe(name)
  })
})

describe('typos', () => {
  test.each([
    ['added', 'tyrannnosaur'],
    ['dropped', 'tyranosaur'],
    ['changed', 'tyrannosaor'],
    ['swapped', 'tyrannosuar'],
    ['at the start', 'yrannosaur'],
  ])('one letter %s', async (_kind, q) => {
    expect(await names(q)).toEqual(['Tyrannosaur'])
  })

  test('one in each of several words is accepted', async () => {
    expect(await names('patisier eclair')).toEqual(['Éclair Pâtissier'])
    expect(await names('eclir patisier')).toEqual(['Éclair Pâtissier'])
  })

  test('two in one word are too many, and short words allow none', async () => {
    expect(await names('tyranosuar')).toEqual([])
    expect(await names('mev')).toEqual([])
  })
})

describe('collector numbers', () => {
  test.each([
    ['4/102', ['4/102']],
    ['004/102', ['4/102']],
    ['4/130', ['4/130']],
    ['OP01-001', ['OP01-001']],
    ['op01-001', ['OP01-001']],
    ['op1 1', ['OP01-001']],
    ['op1-1', ['OP01-001']],
    ['OP01001', ['OP01-001']],
    ['op1-10', ['OP01-010']],
    ['swsh20', ['SWSH020']],
    ['swsh 020', ['SWSH020']],
    ['SWSH020', ['SWSH020']],
    ['tg12', ['TG12/TG30']],
    ['TG12/TG30', ['TG12/TG30']],
    ['4/165', ['004/165']],
  ])('%s finds first %j', async (q, expected) => {
    expect((await codes(q)).slice(0, expected.length)).toEqual(expected)
  })

  test('a number alone is found with every total', async () => {
    expect((await codes('004')).slice(0, 3).sort()).toEqual(['004/165', '4/102', '4/130'])
    expect(await codes('04')).not.toContain('14/102')
  })

  test('a number with a wrong total finds nothing', async () => {
    expect(await codes('4/999')).toEqual([])
  })

  test('finds the numbers of the sample as printed', async () => {
    expect((await search({ q: '4/102', market: 'source_c' })).body.data[0]).toMatchObject({ name: 'Charizard', code: '4/102' })
    expect((await search({ q: 'op1 1', market: 'source_c' })).body.data[0]).toMatchObject({ code: 'OP01-001' })
  })
})

describe('parameters', () => {
  test.each(['', ' ', '  ', 'a', ' a ', '\t', 'ı', '\u00a0a'])('q of %j is rejected with what is allowed', async (q) => {
    const { status, body } = await search({ q })
    expect([status, body.success, body.error!.code]).toEqual([422, false, 'VALIDATION_ERROR'])
    expect(rulesIn(body.error)).toMatch(/^q (required )?text 2 200$/)
  })

  test('q is required', async () => {
    const { status, body } = await send(`${node.publicUrl}/api/v1/items/search`, node.keys.starter)
    expect([status, body.error!.details![0]!.field]).toEqual([422, 'q'])
  })

  test('50 per page by default, at most 100', async () => {
    const { body } = await search({ q: 'card' })
    expect(body.pagination).toMatchObject({ current_page: 1, per_page: 50 })
    expect((await search({ q: 'card', per_page: 101 })).status).toBe(422)
  })

  test('market, game and category filter it', async () => {
    const all = (await search({ q: 'booster', per_page: 100 })).body
    const category = all.data[0]!.category.id
    const filters: [Record<string, string | number>, (item: Found) => boolean][] = [
      [{ game: 'onepiece' }, (item) => item.game === 'onepiece'],
      [{ category_id: category }, (item) => item.category.id === category],
    ]
    const inMarket = (await search({ q: 'booster', per_page: 100, market: 'source_b' })).body.data
    expect(inMarket.length).toBeGreaterThan(0)
    expect(inMarket.every(({ market }) => market === 'source_b')).toBe(true)
    expect(inMarket.map(({ id }) => id)).toEqual(all.data.map(({ id }) => id).filter((id) => inMarket.some((item) => item.id === id)))
    for (const [filter, matches] of filters) {
      const { body } = await search({ q: 'booster', per_page: 100, ...filter })
      const expected = all.data.filter(matches)
      expect(expected.length).toBeGreaterThan(0)
      expect(body.data).toEqual(expected)
      expect(body.pagination!.total).toBe(expected.length)
    }
    expect((await search({ q: 'booster', game: 'chess' })).body.data).toEqual([])
  })

  test('a query of punctuation, symbols or very many words gets a response', async () => {
    for (const q of ['--', '%%', '???', '♀♂', '💎💎', '((', "';--", 'a '.repeat(90), 'x'.repeat(200)]) {
      expect((await search({ q })).status).toBe(200)
    }
    for (const q of ['x'.repeat(201), '\u0000\u0000']) expect((await search({ q })).status).toBe(422)
  })
})

test.each(['er', 'booster', 'base set', 'pikachu', 'chaarizard'])('pages of the search for %s never overlap', async (q) => {
  const whole: number[] = []
  for (let page = 1; ; page += 1) {
    const { body } = await search({ q, per_page: 100, page })
    whole.push(...body.data.map((item) => item.id))
    if (!body.pagination!.has_more) {
      expect(whole).toHaveLength(body.pagination!.total)
      break
    }
  }
  expect(new Set(whole).size).toBe(whole.length)
  const perPage = Math.max(1, Math.ceil(whole.length / 9))
  const pages: number[] = []
  // From the last page to the first: responses do not depend on earlier requests.
  for (let page = Math.ceil(whole.length / perPage); page >= 1; page -= 1) {
    pages.unshift(...(await search({ q, per_page: perPage, page })).body.data.map((item) => item.id))
  }
  expect(pages).toEqual(whole)
  expect((await search({ q, page: 1_000, per_page: 100 })).body.data).toEqual([])
})
