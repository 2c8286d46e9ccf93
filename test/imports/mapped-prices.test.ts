// Price lists of any shop, read by a mapping of their columns: which items rows match, what is rejected and why, and saved mappings.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { textOf } from '#core/problems.ts'
import { register as registerImport } from '#cli/catalogue/import.ts'
import { runCommand } from '../support/command-line.ts'
import { importFiles, importText, OPERATOR_TOKEN, type Sending, send, startTestNode, type TestNode, until } from '../support/node.ts'
import { tcgdexCards, tcgdexSets } from './one-card.ts'

let node: TestNode
let folder: string

const lines = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('')
const pack = {
  id: '569101',
  raw_title: 'BOOSTER PACK -ROMANCE DAWN- [OP01]',
  title_parts: { prefix: 'BOOSTER PACK', title: 'ROMANCE DAWN', label: 'OP01' },
}
const onePiece = (id: string) => ({
  id,
  pack_id: '569101',
  name: 'Shanks',
  rarity: 'SuperRare',
  category: 'Character',
  img_full_url: '',
  colors: [],
  cost: 9,
  attributes: [],
  power: 10000,
  counter: null,
  types: [],
  effect: '-',
  trigger: null,
})

beforeAll(async () => {
  node = await startTestNode({ listeners: 'operator' })
  folder = mkdtempSync(join(tmpdir(), 'mintmark-maps-'))
  await importFiles(node, 'tcgdex', [
    { name: 'sets', text: tcgdexSets },
    { name: 'cards', text: tcgdexCards },
  ])
  await importFiles(node, 'punk-records', [
    { name: 'punk-records-packs.en.json', text: JSON.stringify({ [pack.id]: pack }) },
    { name: 'punk-records-cards.en.ndjson', text: lines(['OP01-120', 'OP01-120_p1'].map(onePiece)) },
  ])
})
afterAll(async () => {
  await node.close()
  rmSync(folder, { recursive: true })
})

const operator = <T = Record<string, never>>(path: string, sending: Sending = {}) =>
  send<T>(`${node.operatorUrl}/operator/v1${path}`, OPERATOR_TOKEN, sending)

/** Prices by ref, label and market. */
async function prices(): Promise<string[]> {
  const { rows } = await sql<{ text: string }>`
    select concat_ws(' ', i.ref, l.name, (array['service','source_a','source_b','source_c'])[p.market + 1], p.price) as text
    from prices p join items i on i.id = p.item_id join groups l on l.id = p.label_id order by 1`.execute(node.db.kysely)
  return rows.map(({ text }) => text)
}

const EUR = { map: 'price=eur_price,set=set,number=number,name=name,finish=foil', currency: 'EUR', market: 'source_b' }

async function refusals(text: string | Uint8Array, input: object, format = 'prices-csv'): Promise<string[]> {
  const { errors } = await importText(node, format, text, { dryRun: true, input })
  return errors.map(({ row, message }) => `${row} ${message}`)
}

describe('a CSV', () => {
  test('finds items by set, number, name and finish', async () => {
    const csv =
      'name,set,number,eur_price,foil\n' +
      'Alakazam,BS,1,0.58€,\nAlakazam,BS,1,"57,99 €",Reverse Holo\nBlastoise,Base Set,002/102,"1,671.68€",Holofoil\nChansey,base1,3,"1.671,68",\n'
    const { counts, errors } = await importText(node, 'prices-csv', csv, { input: EUR })
    expect(errors).toEqual([])
    expect(counts).toMatchObject({ rowsRead: 4, accepted: 4 })
    expect(await prices()).toEqual([
      'tcgdex:base1-1 Near Mint source_b 0.58',
      'tcgdex:base1-1:reverse Near Mint source_b 57.99',
      'tcgdex:base1-2 Near Mint source_b 1671.68',
      'tcgdex:base1-3 Near Mint source_b 1671.68',
    ])
  })

  test('finds an item by a name that an operator added, too', async () => {
    const { rows } = await sql<{ id: number }>`select id from items where ref = 'tcgdex:base1-6:reverse'`.execute(node.db.kysely)
    const rename = (name: string) => operator(`/items/${rows[0]!.id}`, { method: 'PATCH', json: { name } })
    expect((await rename('Garados (misprint)')).status).toBe(200)
    const csv =
      'name,set,number,eur_price,foil\nGarados (misprint),BS,6,7.00,\nGarados (misprint),,6/102,7.00,Reverse\nGyarados,BS,6,8.00,\nGyarados,BS,6,7.00,Reverse\n'
    const { counts, errors } = await importText(node, 'prices-csv', csv, { input: EUR })
    expect({ ...counts, errors }).toMatchObject({ accepted: 2, unchanged: 2, errors: [] })
    expect((await prices()).filter((price) => price.startsWith('tcgdex:base1-6'))).toEqual([
      'tcgdex:base1-6 Near Mint source_b 8.00',
      'tcgdex:base1-6:reverse Near Mint source_b 7.00',
    ])
  })

  test('reports for each rejected row why', async () => {
    const csv =
      'name,set,number,eur_price,foil\n' +
      'Alakazam,BS,1,,\nAlakazam,BS,1,abc,\nAlakazam,BS,1,-5,\nAlakazam,BS,1,"1,234 €",\nAlakazam,BS,1,$5.00,\nAlakazam,BS,1,1.00,Cracked Ice\n' +
      'Alakazam,XYZ,1,1.00,\nAlakazam,,1,1.00,\n,BS,,1.00,\nNobody,BS,77,1.00,\nAlakazam,BS\n'
    expect(await refusals(csv, EUR)).toEqual([
      '3 price must be a number of at most 9999999999.99, not "abc"',
      '4 price must be a number above 0',
      '5 price "1,234 €" is ambiguous; state the decimal separator of the list',
      '6 price must be in EUR, not "$5.00"',
      '10 the row does not name an item',
      '12 the row has 2 cells, the header 5',
      '7 no item that matches "Alakazam · 1 · BS" has the finish "Cracked Ice"',
      '8 no set of the catalogue has the name or code "XYZ"',
      '9 the row does not name a set, and "Alakazam · 1" can be of several',
      '11 no item matches "Nobody · 77 · BS" in name, number and set',
    ])
  })

  test.each([
    ['.', { '1,234': '1234.00', '1.234': '1.23', '1.234,5': null, "1'234.50": '1234.50', '12 345.60': '12345.60', '2.500.000': null }],
    [',', { '1,234': '1.23', '1.234': '1234.00', '1.234,5': '1234.50', '1.671,68 EUR': '1671.68', '2.500.000': '2500000.00' }],
  ])('reads amounts with the decimal separator %s', async (decimal, amounts) => {
    const csv = `name,set,number,eur_price,foil\n${Object.keys(amounts)
      .map((amount) => `Gyarados,BS,6,"${amount}",\n`)
      .join('')}`
    const wrong = Object.entries(amounts).flatMap(([text, read], n) =>
      read === null ? `${n + 2} price must be a number of at most 9999999999.99, not "${text}"` : [],
    )
    expect(await refusals(csv, { ...EUR, decimal })).toEqual(wrong)
    for (const [text, read] of Object.entries(amounts)) {
      if (read === null) continue
      await sql`delete from prices where market = 0`.execute(node.db.kysely)
      await importText(node, 'prices-csv', `name,set,number,eur_price,foil\nGyarados,BS,6,"${text}",\n`, {
        input: { ...EUR, decimal, market: 'service', currency: 'TRY', ...(text.includes('EUR') && { currency: 'EUR' }) },
      })
      if (!text.includes('EUR')) expect((await prices()).find((price) => price.includes('service'))).toBe(`tcgdex:base1-6 Near Mint service ${read}`)
    }
  })

  test('reads files with a byte order mark, quotes, semicolons or another encoding completely', async () => {
    const marked = '\uFEFF"name";"set";"number";"eur_price";"foil"\r\n"Clefairy";"BS";"5";"2,50 €";"Holo"\r\n'
    expect(await importText(node, 'prices-csv', marked, { input: EUR })).toMatchObject({ counts: { accepted: 1, rejected: 0 } })
    const latin = Buffer.concat([
      Buffer.from('name,set,number,eur_price,foil\nPok\xe9mon,BS,4,3.00,\n', 'latin1'),
      Buffer.from('Charizard,BS,4,9.50,\nPoké,BS,5,1.00,\n'),
    ])
    expect(await refusals(latin, EUR)).toEqual([
      '2 name must be in utf-8, not "Pok\uFFFDmon"',
      '4 no item matches "Poké · 5 · BS" in name, number and set; similar items: 9, 10',
    ])
    expect((await importText(node, 'prices-csv', latin, { input: EUR })).counts).toMatchObject({ accepted: 1 })
    expect((await refusals(latin, { ...EUR, encoding: 'windows-1252' }))[0]).toContain('"Pokémon · 4 · BS"')
    const utf16 = Buffer.from('\uFEFFname\tset\tnumber\teur_price\tfoil\nCharizard\tBS\t4\t9.60\t\n', 'utf16le')
    expect(await importText(node, 'prices-csv', utf16, { input: EUR })).toMatchObject({ counts: { unchanged: 0, accepted: 1, rejected: 0 } })
  })

  test('rejects only the rows of a file that are not in its encoding', async () => {
    const rows = ['Clefairy,BS,5,"2,75 €",\n', 'Clefairy,BS,5,"2,80 \x80",\n', 'Clefairy,BS,5,2.85 EUR,\n', 'Pok\xe9mon,BS,5,2.90,\n']
    const mixed = Buffer.concat([
      Buffer.from('name,set,number,eur_price,foil\n'),
      ...rows.map((row, n) => Buffer.from(row, n % 2 === 0 ? 'utf8' : 'latin1')),
    ])
    expect(await refusals(mixed, EUR)).toEqual(['3 price must be in utf-8, not "2,80 \uFFFD"', '5 name must be in utf-8, not "Pok\uFFFDmon"'])
  })

  test.each([
    ['EUR', ['€5', '5 €', '5 EUR', 'eur 5'], ['$5', '£5', 'R$ 5', '5 TL', '5 zł', '5 € 6']],
    ['USD', ['$5', 'US$5', '5 USD'], ['€5', '5 eur']],
    ['TRY', ['5 TL', '₺5', '5 TRY'], ['5 $']],
  ])('in %s accepts only its own currency signs', async (currency, own, others) => {
    const csv = `name,set,number,eur_price,foil\n${[...own, ...others].map((amount) => `Clefairy,BS,5,${amount},\n`).join('')}`
    const lines = (await refusals(csv, { ...EUR, currency, market: currency === 'TRY' ? 'service' : EUR.market })).map((text) =>
      Number(text.split(' ')[0]),
    )
    const noRate = currency === 'USD' ? own.map((_, n) => n + 2) : []
    expect(lines.toSorted((a, b) => a - b)).toEqual([...noRate, ...others.map((_, n) => own.length + n + 2)])
  })

  test('supports ids, labels, parts of columns and prices for several labels', async () => {
    const csv =
      'key,cm,condition,nm,psa,day,kind\nbase1-4::reverse,,LP,4.00,40.00,2026-03-01,Card\nbase1-9::holo,1004,NM,5.00,,2026-03-28T19:29:00.276515,Card\nbase1-5::x,,NM,5.00,,2026-03-01,Card\n,,,1,,,Box\n'
    const map = 'tcgdex_id={key/::/1},cardmarket_id=cm,finish={key/::/2},label=condition,price=nm,price[PSA 10]=psa,updated_at=day'
    const report = await importText(node, 'prices-csv', csv, { input: { map, only: 'kind=Card', market: 'source_a' } })
    expect(report.errors.map(({ row, message }) => `${row} ${message}`)).toEqual(['4 no item with the tcgdex id base1-5 has the finish x'])
    expect((await prices()).filter((price) => price.includes('source_a'))).toEqual([
      'tcgdex:base1-4:reverse Lightly Played source_a 4.00',
      'tcgdex:base1-4:reverse PSA 10 source_a 40.00',
      'tcgdex:base1-5:holo Near Mint source_a 5.00',
    ])
    const { rows } = await sql<{ at: Date }>`select updated_at as at from prices where price = 5 and market = 1`.execute(node.db.kysely)
    expect(rows[0]!.at.toISOString()).toBe('2026-03-28T19:29:00.276Z')
  })

  test('in another currency is converted at daily rates, and rejected without a rate', async () => {
    await operator('/rates', {
      method: 'POST',
      json: [
        { day: '2026-02-01', currency: 'EUR', TRY: 50 },
        { day: '2026-02-01', currency: 'BRL', TRY: 10 },
      ],
    })
    const csv = 'name,set,number,brl,day\nChansey,BS,3,100.00,2026-02-03\nChansey,BS,3,90.00,2026-01-03\n'
    const input = { map: 'price=brl,set=set,number=number,name=name,date=day,label==PSA 9', currency: 'BRL', market: 'source_b' }
    const { errors } = await importText(node, 'prices-csv', csv, { input })
    expect(errors).toMatchObject([{ row: 3, message: expect.stringContaining('exchange rate for BRL, EUR from 2026-01-03 or earlier') as string }])
    expect(await prices()).toContain('tcgdex:base1-3 PSA 9 source_b 20.00')
  })
})

describe('dates of a list', () => {
  const head = 'name,set,number,eur_price,foil,ended,recorded\n'
  const dated = { ...EUR, map: `${EUR.map},updated_at=ended,recorded_at=recorded,label==PSA 8` }
  const days = async () => {
    const { rows } = await sql<{ text: string }>`
      select p.price || ' ' || to_char(p.updated_at at time zone 'UTC', 'YYYY-MM-DD') as text
      from price_points p join groups l on l.id = p.label_id where l.name = 'PSA 8' order by 1`.execute(node.db.kysely)
    return rows.map(({ text }) => text)
  }

  test('after the day on which it was recorded are refused', async () => {
    const csv = `${head}Chansey,BS,3,1.00,,2026-10-06,2026-01-01 06:21:46\nChansey,BS,3,2.00,,2026-01-01T23:00:00,2026-01-01\nChansey,BS,3,3.00,,2026-01-02,\nChansey,BS,3,0.0,,,2026-01-01\n`
    expect(await refusals(csv, dated)).toEqual([
      '2 updated_at is 2026-10-06, after the list recorded the row on 2026-01-01; if its years are guesses, set `years` to guessed',
      '4 recorded_at is required',
      '5 price must be a number above 0',
    ])
  })

  test('get the latest year not after it, if the years are guesses', async () => {
    const rows = [
      ['1.00', '2026-10-06', '2026-01-01 06:21:46'],
      ['2.00', '2027-01-02', '2026-01-05'],
      ['3.00', '2026-02-03', '2026-02-03 00:00:00'],
      ['4.00', '2024-02-29', '2026-01-05'],
      ['5.00', '', '2026-01-05'],
    ]
    const csv = head + rows.map(([price, ended, recorded]) => `Chansey,BS,3,${price},,${ended},${recorded}\n`).join('')
    const { errors } = await importText(node, 'prices-csv', csv, { input: { ...dated, years: 'guessed' } })
    expect(errors.map(({ row, message }) => `${row} ${message}`)).toEqual([
      '5 updated_at must be a date, not "2025-03-01"',
      '6 the price has no date',
    ])
    expect(await days()).toEqual(['1.00 2025-10-06', '2.00 2026-01-02', '3.00 2026-02-03'])
  })
})

describe('a list of means of unlike values', () => {
  const map = { map: 'price=newPriceBrl,tcgdex_id={key/::/1},finish={key/::/2},updated_at=date', currency: 'BRL', market: 'source_b' }

  test.each([
    ['prices-csv', 'key,date,oldPriceBrl,newPriceBrl,changePercent\nbase1-4::holo,2026-08-01,38.32,39.38,2.77\n', map],
    [
      'prices-ndjson',
      lines([{ cardId: 'base1-4', finish: 'holo', priceBrl: 24.65, sources: [] }]),
      { ...map, map: 'price=priceBrl,tcgdex_id=cardId,finish=finish' },
    ],
  ])('is refused as %s', async (format, text, input) => {
    const { status, why } = await importText(node, format, text, { input })
    expect([status, why?.rule, why && textOf(why)]).toEqual([
      'failed',
      'mixed_values',
      expect.stringContaining('import the full files as singles-brl'),
    ])
  })

  test('but a column of the same name in another list is read', async () => {
    const text = 'name,set,number,priceBrl\nChansey,BS,3,50.00\n'
    const input = { map: 'price=priceBrl,set=set,number=number,name=name,label==PSA 7', currency: 'BRL', market: 'source_b' }
    expect((await importText(node, 'prices-csv', text, { input })).counts).toMatchObject({ accepted: 1, rejected: 0 })
  })
})

describe('single cards in Brazilian real', () => {
  const row = (day: string, finish: string, sources: Record<string, number>) => ({
    cardId: 'base1-7',
    finish,
    name: 'Hitmonchan',
    number: '7',
    language: 'en',
    updatedAt: `${day}T15:00:00.000Z`,
    sources: Object.entries(sources).map(([source, valueBrl]) => ({ source, valueBrl })),
  })

  beforeAll(async () => {
    const card = JSON.parse(tcgdexCards.split('\n')[0]!) as object
    const own = { ...card, id: 'base1-7', localId: '7', name: { en: 'Hitmonchan' }, variants: [{ type: 'holo' }, { type: 'reverse' }] }
    await importFiles(node, 'tcgdex', [
      { name: 'sets', text: tcgdexSets },
      { name: 'cards', text: lines([own]) },
    ])
  })

  test('use the last known rates of each day, for prices and figures', async () => {
    const rates = [
      { day: '2026-02-01', currency: 'USD', rate: 40 },
      { day: '2026-02-10', currency: 'BRL', rate: 8 },
    ]
    expect((await operator('/rates', { method: 'POST', json: rates })).status).toBe(200)
    const text = lines([
      row('2026-02-05', 'holo', { cardmarketTrend: 100, cardmarketAvg7: 110, tcgplayerMarket: 30 }),
      row('2026-02-12', 'reverse', { cardmarketTrend: 90, cardmarketAvg7: 110 }),
    ])
    const { counts, errors } = await importText(node, 'singles-brl', text)
    expect([counts.accepted, errors]).toEqual([3, []])
    const { rows } = await sql<{ text: string }>`
      select concat_ws(' ', i.ref, p.market, p.price, p.avg_7) as text from prices p join items i on i.id = p.item_id
      where i.ref like 'tcgdex:base1-7%' order by 1`.execute(node.db.kysely)
    expect(rows.map((one) => one.text)).toEqual(['tcgdex:base1-7 2 20.00 22.00', 'tcgdex:base1-7 3 7.50', 'tcgdex:base1-7:reverse 2 14.40 17.60'])
  })

  test('are refused by currency and day without rates', async () => {
    const text = lines([row('2025-12-31', 'holo', { cardmarketTrend: 100, tcgplayerMarket: 30 })])
    const { counts, errors } = await importText(node, 'singles-brl', text)
    expect(counts).toMatchObject({ rowsRead: 1, accepted: 0, rejected: 2 })
    expect(errors.map(({ message }) => message)).toEqual([
      'converting BRL to EUR needs an exchange rate for BRL, EUR from 2025-12-31 or earlier; load one with `mintmark rates set` or `mintmark rates import`',
      'converting BRL to USD needs an exchange rate for BRL, USD from 2025-12-31 or earlier; load one with `mintmark rates set` or `mintmark rates import`',
    ])
  })
})

describe('JSON', () => {
  const guide = [
    { code: 'OP01-120', name: 'Shanks', '': { en: '$8', label: 'Base' }, _p1: { en: '$1,070', psa: '$3,200' }, _p2: { en: '$776' } },
    { code: 'OP01-120', name: 'Shanks', en: '$50–$60', note: 'Parallel 1' },
    { code: 'OP01-120', name: 'Shanks', en: '$70', note: 'Championship stamp' },
  ]
  const input = {
    map: 'price=en,price[PSA 10]=psa,name=name,number=code,finish={@key} {note},game==onepiece,language==en',
    entries: '*',
    decimal: '.',
    currency: 'USD',
    market: 'source_c',
  }

  test.each([
    ['lines', lines(guide)],
    ['an array', JSON.stringify(guide, null, 2)],
  ])('of %s yields a price for each nested printing', async (_form, text) => {
    const { counts, errors } = await importText(node, 'prices-ndjson', text, { input })
    expect(counts.rowsRead).toBe(3)
    expect(errors.map(({ message }) => message)).toEqual([
      'price must be a number of at most 9999999999.99, not "$50–$60"',
      'no item that matches "Shanks · OP01-120" has the finish "_p2"',
      'no item that matches "Shanks · OP01-120" has the finish "Championship stamp"',
    ])
    expect((await prices()).filter((price) => price.includes('OP01-120'))).toEqual([
      'punk-records:en:OP01-120 Near Mint source_c 8.00',
      'punk-records:en:OP01-120_p1 Near Mint source_c 1070.00',
      'punk-records:en:OP01-120_p1 PSA 10 source_c 3200.00',
    ])
  })

  test('reads members by paths and lists of printings', async () => {
    const text = lines([
      {
        card: { set: { code: 'BS' }, no: 2 },
        title: 'Blastoise',
        printings: [
          { kind: 'holo', price: { eur: 3.5 } },
          { kind: 'reverse', price: { eur: 4.25 } },
        ],
      },
    ])
    const map = 'price=price.eur,set=card.set.code,number=card.no,name=title,finish=kind,label==NM'
    expect((await importText(node, 'prices-ndjson', text, { input: { map, entries: 'printings.*', market: 'source_a' } })).counts).toMatchObject({
      accepted: 2,
      rejected: 0,
    })
    expect(await prices()).toContain('tcgdex:base1-2:reverse Near Mint source_a 4.25')
  })

  test('without a mapped member is rejected as a whole', async () => {
    expect(await importText(node, 'prices-ndjson', lines([{ a: 1 }]), { input })).toMatchObject({
      status: 'failed',
      why: { rule: 'members', params: { values: ['en', 'psa'] } },
    })
  })
})

describe('an invalid mapping', () => {
  test.each([
    [{}, 'map', 'mapping'],
    [{ map: 'set=a,name=b' }, 'map', 'mapping_price'],
    [{ map: 'price=a' }, 'map', 'mapping_item'],
    [{ map: 'price=a,price=b,name=c' }, 'map', 'mapping_twice', 'names two columns for price: a, b'],
    [{ map: 'price=a,name=c,date=d,updated_at=e' }, 'map', 'mapping_twice', 'names two columns for updated_at'],
    [{ map: 'price=a,name=c,colour=d' }, 'map', 'mapping_field', 'names colour, which is not a field; known fields: price, name,'],
    [{ map: 'price=,name=c' }, 'map', 'mapping_pairs', 'not "price="'],
    [{ map: 'price=a,name={c' }, 'map', 'mapping_column', 'name: must close each brace, not "{c"'],
    [
      { map: 'price[Good 11]=a,name=c' },
      'map',
      'mapping_column',
      'price[Good 11]: must be a condition, such as Near Mint, or a grader with a grade, such as PSA 10, not "Good 11"',
    ],
    [{ map: 'price=a,name=c', currency: 'euro' }, 'currency', 'currency'],
    [{ map: 'price=a,name=c,date=d', years: 'guessed' }, 'years', 'mapping_years', 'recorded_at'],
    [{ map: 'price=a,name=c', years: 'any' }, 'years', 'one_of'],
    [{ map: 'price=a,name=c', decimal: ';' }, 'decimal', 'one_of'],
    [{ map: 'price=a,name=c', entries: 'a..b' }, 'entries', 'path'],
    [{ map: 'price=a,name=c', market: 'source_x' }, 'market', 'one_of'],
  ])('%o is rejected before anything is read', async (input, field, rule, message = '') => {
    const query = new URLSearchParams({ market: 'source_b', ...input })
    const before = await node.db.kysely.selectFrom('imports').select('id').execute()
    const { status, body } = await operator<null>(`/imports/prices-csv?${query}`, {
      method: 'POST',
      body: 'a\n1\n',
      headers: { 'content-type': 'text/csv' },
    } as Sending)
    expect(status).toBe(422)
    expect(body.error!.details).toContainEqual(expect.objectContaining({ field, rule, message: expect.stringContaining(message) as string }))
    expect(await node.db.kysely.selectFrom('imports').select('id').execute()).toEqual(before)
  })

  test.each([
    ['a,b\n1,2\n', 'the header must have the columns eur_price, set, number, name, foil; it has a, b'],
    ['name,set,number,eur_price,eur_price,foil\n', 'the header has the column "eur_price" twice'],
    ['', 'the file is empty'],
  ])('for its file fails the import: %j', async (text, message) => {
    const count = (await prices()).length
    const { status, why } = await importText(node, 'prices-csv', text, { input: EUR })
    expect([status, why && textOf(why)]).toEqual(['failed', message])
    expect(await prices()).toHaveLength(count)
  })

  test('is accepted for mapped formats only', async () => {
    const { status, body } = await operator<null>('/imports/mintmark-prices-csv?map=price%3Da', { method: 'POST' })
    expect([status, body.error!.details]).toMatchObject([422, [{ field: 'map', rule: 'only_mapped' }]])
  })
})

describe('a saved mapping', () => {
  const columns = { price: 'eur', set: 'set', number: 'nr', name: 'title' }

  test('is created, read, used by an upload, and deleted', async () => {
    const put = await operator('/price-mappings/Weekly%20list', { method: 'PUT', json: { columns, currency: 'EUR', market: 'source_b' } })
    expect([put.status, put.body.data]).toMatchObject([
      200,
      { name: 'Weekly list', mapping: { columns, currency: 'EUR' }, author: 'operator:bootstrap' },
    ])
    expect((await operator('/price-mappings/Weekly%20list')).body.data).toEqual(put.body.data)
    const changed = await operator('/price-mappings/Weekly%20list', {
      method: 'PUT',
      json: { columns, currency: 'EUR', market: 'source_b', decimal: ',' },
    })
    expect(changed.status).toBe(200)
    expect((await operator('/price-mappings')).body.data).toMatchObject([{ name: 'Weekly list', mapping: { decimal: ',' } }])
    const started = await operator<{ id: number }>('/imports/prices-csv?map_name=Weekly%20list', {
      method: 'POST',
      body: 'title,set,nr,eur\nCharizard,BS,4,"10,500"\n',
    } as Sending)
    expect(started.status).toBe(202)
    const done = () => operator<{ status: string; accepted: number; market: string }>(`/imports/${started.body.data.id}`)
    await until('the import is over', async () => ['done', 'failed'].includes((await done()).body.data.status))
    expect((await done()).body.data).toMatchObject({ status: 'done', accepted: 1, market: 'source_b' })
    expect(await prices()).toContain('tcgdex:base1-4 Near Mint source_b 10.50')
    expect((await operator('/price-mappings/Weekly%20list', { method: 'DELETE' })).status).toBe(200)
    expect((await operator('/price-mappings/Weekly%20list')).status).toBe(404)
    expect((await operator('/price-mappings/Weekly%20list', { method: 'DELETE' })).status).toBe(404)
    expect((await operator<null>('/imports/prices-csv?map_name=Weekly%20list', { method: 'POST' })).status).toBe(404)
    const { rows } = await sql<{ action: string }>`select action from audit_log where subject_type = 'price-mapping' order by id`.execute(
      node.db.kysely,
    )
    expect(rows.map(({ action }) => action)).toEqual(['price-mapping.save', 'price-mapping.save', 'price-mapping.delete'])
  })

  test('is rejected if it is invalid', async () => {
    const put = (json: object) => operator<null>('/price-mappings/x', { method: 'PUT', json })
    expect((await put({ columns: { price: 'a' } })).body.error!.details).toMatchObject([{ field: 'columns', rule: 'mapping_item' }])
    expect((await put({ columns, market: 'source_x' })).status).toBe(422)
    expect((await put({ columns, colour: 'red' })).status).toBe(422)
  })

  test('is saved and used by the command line', async () => {
    const file = join(folder, 'list.csv')
    writeFileSync(file, 'title,set,nr,eur\nChansey,BS,3,1671.68\n')
    const run = async (...args: string[]) => {
      const { text } = await runCommand(node, [registerImport], ['import', 'prices-csv', file, ...args, '--json'])
      return JSON.parse(text) as { status: string; unchanged: number; accepted: number; rejected: number }
    }
    const map = ['--map', 'price=eur,set=set', '--map', 'number=nr,name=title', '--currency', 'EUR', '--market', 'source_b']
    expect(await run(...map, '--condition-known', 'false', '--save-map', 'shop')).toMatchObject({ status: 'done', rejected: 0 })
    expect(await run('--map-name', 'shop')).toMatchObject({ status: 'done', rejected: 0 })
    expect((await operator('/price-mappings/shop')).body.data).toMatchObject({
      mapping: { columns, currency: 'EUR', market: 'source_b', condition_known: false },
    })
  })
})

test('rows of other formats without a matching id are matched by their words', async () => {
  const columns = 'id,console-name,product-name,loose-price,manual-only-price,bgs-10-price,tcg-id'
  const csv = `${columns}\n1,Pokemon Base Set,Gyarados #6,$5.00,,,\n2,Pokemon Base Set,Gyarados [Reverse Holo] #6,$6.00,,,999\n3,Pokemon Nowhere,Gyarados #6,$7.00,,,\n4,Pokemon Base Set,Gyarados [1st Edition] #6,$8.00,,,2005\n`
  const { errors } = await importText(node, 'pricecharting-csv', csv)
  expect(errors.map(({ row, message }) => `${row} ${message}`)).toEqual([
    '5 no item with the tcgplayer id 2005 has the finish 1st Edition',
    '4 no set of the catalogue has the name or code "Nowhere"',
  ])
  expect((await prices()).filter((price) => price.startsWith('tcgdex:base1-6') && price.includes('source_a'))).toEqual([
    'tcgdex:base1-6 Near Mint source_a 5.00',
    'tcgdex:base1-6:reverse Near Mint source_a 6.00',
  ])
})
