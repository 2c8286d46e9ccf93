// Personal data: a word for every column, complete exports, and erasures that two nodes carry out at once while the person keeps writing.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { OTHER_TABLES } from '#db/personal/other-tables.ts'
import { words } from '#db/personal/rows-of-person.ts'
import { SPECIAL_TABLES, type TableOfPeople, TABLES_OF_PEOPLE } from '#db/personal/tables-of-people.ts'
import { createAccount } from '#accounts/create-account.ts'
import { createKey } from '#accounts/keys/create-key.ts'
import { monthsOfAudit } from '#audit/archive/archive-audit.ts'
import { openAuditArchive } from '#audit/archive/audit-file.ts'
import { call } from '#core/verb.ts'
import { archiveOldMonths } from '#files/month-archive.ts'
import { openPhotoFiles } from '#photos/photo-files.ts'
import type { Erasure } from '#privacy/erasure-types.ts'
import { runErasures } from '#privacy/run-erasures.ts'
import { DAY_MS, makeCatalogue, operator, orderId, plus, published } from '../market/kit.ts'
import { silent, startTwoNodes, type TestNode, until } from '../support/node.ts'

let node: TestNode
let other: TestNode
let close: () => Promise<void>
let items: Record<string, number>

beforeAll(async () => {
  ;({ here: node, there: other, close } = await startTwoNodes())
  ;({ items } = await makeCatalogue(node))
})

afterAll(() => close())

async function newSeller(name: string): Promise<{ id: number; key: string }> {
  const { id } = await call(createAccount, node.ctx, { name, plan: 'plus' })
  return { id, key: (await call(createKey, node.ctx, { account_id: id, label: `Key of ${name}` })).key }
}
const erase = (body: object, on = node) => operator<Erasure>(on, 'POST', '/erasures', { reason: 'request', ...body })
const carryOut = (on: TestNode) => runErasures({ db: on.db, now: on.clock.now, files: openPhotoFiles(on.config), log: silent })
/** An erasure waits for transactions that were running at the request, also those of other tests. */
const finish = async () => {
  await until('the erasures are done', async () => {
    await carryOut(node)
    return (await operator<Erasure[]>(node, 'GET', '/erasures?state=running')).body.data.length === 0
  })
}
const personalData = async (path: string) => (await operator<{ tables: Record<string, object[]>; audit: object[] }>(node, 'GET', path)).body.data
const reasonOf = ({ status, body }: { status: number; body: { error?: { rule?: string } } }) => [status, body.error?.rule]

describe('the table of personal data', () => {
  const all: Record<string, TableOfPeople> = { ...TABLES_OF_PEOPLE, ...SPECIAL_TABLES, ...OTHER_TABLES }
  const columnsOf = ({ personal, changes, plain, operator: operators, others, secret }: TableOfPeople) =>
    [...words(personal), ...Object.keys(changes ?? {}), ...words(plain), ...words(operators), ...words(others), ...words(secret)].sort()

  test('has a word for every column of the database', async () => {
    const { rows } = await sql<{ table: string; columns: string[] }>`
      select c.table_name as table, array_agg(c.column_name::text order by c.column_name) as columns
      from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
      where c.table_schema = 'public' and t.table_type = 'BASE TABLE' and c.table_name !~ '^(kysely_|price_points_)' group by 1`.execute(
      node.db.kysely,
    )
    const known = Object.fromEntries(rows.map(({ table }) => [table, all[table] ? columnsOf(all[table]) : []]))
    expect(known).toEqual(Object.fromEntries(rows.map(({ table, columns }) => [table, [...columns].sort()])))
    expect(Object.keys(all).sort()).toEqual(rows.map(({ table }) => table).sort())
  })

  test('leads to a person by columns that exist', () => {
    const links = Object.entries(TABLES_OF_PEOPLE).flatMap(([table, { account = [], buyer = [] }]) =>
      [...account, ...buyer].flatMap((link) =>
        typeof link === 'string'
          ? [[table, link]]
          : [
              [table, link[0]],
              [link[1], link[2]],
            ],
      ),
    )
    expect(links.filter(([table, column]) => !columnsOf(TABLES_OF_PEOPLE[table!]!).includes(column!))).toEqual([])
  })
})

describe('an export', () => {
  test('has the rows of every table, without secrets, and is recorded', async () => {
    const { id, key } = await newSeller('Exported Seller')
    const listing = await published(node, items.char!, { seller_id: id, title: 'Exported listing' })
    await operator(node, 'POST', '/orders', {
      order_id: orderId(),
      lines: [{ listing_id: listing.id, quantity: 1 }],
      buyer_reference: 'exported-buyer',
    })
    const { tables, audit } = await personalData(`/accounts/${id}/personal-data`)
    expect(tables).toMatchObject({
      accounts: [{ name: 'Exported Seller' }],
      sales: [{ seller_id: id }],
      api_keys: [{ label: 'Key of Exported Seller' }],
    })
    expect(Object.keys(tables)).toEqual(
      Object.entries(TABLES_OF_PEOPLE)
        .filter(([, of]) => of.account)
        .map(([table]) => table),
    )
    expect(Object.keys(tables.api_keys![0]!)).not.toContain('hash')
    expect(JSON.stringify({ tables, audit })).not.toContain(key)
    expect(audit.map((entry) => (entry as { action: string }).action)).toEqual(
      expect.arrayContaining(['account.create', 'personal-data.export', 'listing.approve']),
    )
    const buyer = await personalData('/buyers/personal-data?buyer_reference=exported-buyer')
    expect(buyer.tables.order_buyers).toMatchObject([{ reference: 'exported-buyer' }])
    expect((await operator(node, 'GET', '/accounts/99999/personal-data')).status).toBe(404)
  })

  test('of 100,000 records needs little memory', { tags: 'slow' }, async () => {
    const { id } = await newSeller('Collector')
    await sql`
      with made as (insert into collections (account_id, name) values (${id}, 'Large') returning id)
      insert into collection_items (collection_id, item_id, quantity, note)
      select made.id, ${items.char!}, 1, repeat('note ', 200) || n from made, generate_series(1, 100000) n`.execute(node.db.kysely)
    const response = await fetch(`${node.operatorUrl}/operator/v1/accounts/${id}/personal-data`, {
      headers: { authorization: 'Bearer operator token of the tests' },
    })
    let bytes = 0
    // The lowest use at the end of the document, when garbage was collected; a document in memory would take more than 100 MB.
    let lowest = Infinity
    const used = () => process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers
    const before = used()
    for await (const chunk of response.body!) {
      bytes += (chunk as Uint8Array).length
      if (bytes > 100_000_000) lowest = Math.min(lowest, used() - before)
    }
    expect(bytes).toBeGreaterThan(130_000_000)
    expect(lowest).toBeLessThan(65_000_000)
  })
})

describe('an erasure', () => {
  test('suspends the account at once, and is carried out once by two nodes', async () => {
    const { id, key } = await newSeller('Erased Seller')
    const listing = await published(node, items.char!, { seller_id: id, title: 'Erased title', quantity: 3 })
    const order = orderId()
    await operator(node, 'POST', '/orders', { order_id: order, lines: [{ listing_id: listing.id, quantity: 1 }] })
    const [one, two] = await Promise.all([erase({ account_id: id }), erase({ account_id: id }, other)])
    expect([one.status, two.status, one.body.data.id]).toEqual([202, 202, two.body.data.id])
    expect((await plus(other, 'GET', '/my-listings', undefined, { key })).status).toBe(403)
    await Promise.all([carryOut(node), carryOut(other), carryOut(node), carryOut(other)])
    await finish()
    const { body } = await operator<Erasure>(node, 'GET', `/erasures/${one.body.data.id}`)
    expect(body.data).toMatchObject({ state: 'done', what: { listings: 1, accounts: 1, api_keys: 1 }, pseudonym: `Erased account ${id}` })
    expect((await operator<object>(node, 'GET', `/listings/${listing.id}`)).status).toBe(404)
    expect((await operator<{ lines: object[] }>(node, 'GET', `/orders/${order}`)).body.data.lines).toHaveLength(1)
    expect(JSON.stringify(await personalData(`/accounts/${id}/personal-data`))).not.toMatch(/Erased (Seller|title)/)
    for (const [path, json] of [
      [`/accounts/${id}/keys`, {}],
      ['/listings', { seller_id: id, item_id: items.char, title: 'New', price: 1 }],
      ['/collections', { account_id: id, name: 'New' }],
    ] as const) {
      expect(reasonOf(await operator(node, 'POST', path, json))).toEqual([409, 'account_erased'])
    }
    expect(reasonOf(await operator(node, 'PATCH', `/accounts/${id}`, { suspended: false }))).toEqual([409, 'account_erased'])
    expect((await erase({ account_id: id })).body.data.state).toBe('done')
  })

  test('overwrites the reference of a buyer everywhere, but no sale of anybody', async () => {
    const seller = await newSeller('Seller')
    const listing = await published(node, items.char!, { seller_id: seller.id, quantity: 5 })
    const orders = [orderId(), orderId()]
    for (const [i, reference] of ['erased-reference', 'other-reference'].entries()) {
      await operator(node, 'POST', '/orders', { order_id: orders[i], lines: [{ listing_id: listing.id, quantity: 1 }], buyer_reference: reference })
    }
    await operator(node, 'POST', `/orders/${orders[0]}/cancel`, { reason: 'name of the buyer' })
    const { body } = await erase({ buyer_reference: 'erased-reference' })
    await finish()
    const done = (await operator<Erasure>(node, 'GET', `/erasures/${body.data.id}`)).body.data
    expect(done).toMatchObject({ state: 'done', account_id: null, what: { order_buyers: 1, sale_cancellations: 1, audit_log: 2 } })
    const { rows } = await sql<{ reference: string }>`
      select reference from order_buyers where order_id = any(${orders}) order by order_id`.execute(node.db.kysely)
    expect(rows.map(({ reference }) => reference)).toEqual([done.pseudonym, 'other-reference'])
    const { rows: left } =
      await sql`select from audit_log where after::text like '%erased-reference%' or after::text like '%name of the buyer%'`.execute(node.db.kysely)
    expect(left).toEqual([])
  })

  test('is refused while offers are open, and for whoever is not an owner', async () => {
    const { id } = await newSeller('Offered')
    const listing = await published(node, items.char!, { seller_id: id, offers_enabled: true })
    const offer = { listing_id: listing.id, unit_price: 80, order_id: orderId(), buyer_reference: 'offering' }
    expect((await operator(node, 'POST', '/offers', offer)).status).toBe(201)
    expect(reasonOf(await erase({ account_id: id }))).toEqual([409, 'offers_open'])
    expect(reasonOf(await erase({ buyer_reference: 'offering' }))).toEqual([409, 'offers_open'])
    expect((await erase({})).status).toBe(422)
    expect((await erase({ account_id: id, buyer_reference: 'offering' })).status).toBe(422)
  })

  test('removes what a request wrote that was under way', async () => {
    const { id, key } = await newSeller('Importing')
    await operator(node, 'PATCH', `/accounts/${id}`, { listing_intake: { quota: 100 } })
    const collection = (await operator<{ id: number }>(node, 'POST', '/collections', { account_id: id, name: 'Cards' })).body.data.id
    const [erasure] = await Promise.all([
      erase({ account_id: id }),
      carryOut(other),
      ...Array.from({ length: 10 }, (_, n) => plus(node, 'POST', '/listings', { item_id: items.char, title: `Late ${n}`, price: 1 }, { key })),
      ...Array.from({ length: 10 }, (_, n) =>
        plus(node, 'POST', `/collections/${collection}/items`, { item_id: items.char, note: `Late ${n}` }, { key }),
      ),
    ])
    await finish()
    expect((await operator<Erasure>(node, 'GET', `/erasures/${erasure.body.data.id}`)).body.data.state).toBe('done')
    // Written by a request that began before the erasure and ends after it.
    await sql`insert into collections (account_id, name) values (${id}, 'Late name')`.execute(node.db.kysely)
    node.clock.advance(DAY_MS / 12)
    await carryOut(node)
    expect((await personalData(`/accounts/${id}/personal-data`)).tables.collections).toEqual([])
  })
})

test('archived months of the audit log stay unchanged and verifiable, and unreadable for the erased person alone', async () => {
  const [gone, kept] = [await newSeller('Archived Gone'), await newSeller('Archived Kept')]
  await sql`update audit_log set at = at - interval '3 months' where after::text like '%Archived %'`.execute(node.db.kysely)
  const files = openAuditArchive(node.config)
  const table = monthsOfAudit(files)
  const [archived] = await archiveOldMonths(table, { db: node.db, now: node.clock.now() }, 2)
  const about = async (id: number) => {
    const { body } = await operator<{ after: { name?: string; label?: string } }[]>(
      node,
      'GET',
      `/audit?subject_type=account&subject_id=${id}&action=account.create`,
    )
    return body.data.map(({ after }) => after.name)
  }
  const bytes = async () => readFileSync(join(node.config.archiveDir, archived!.file!))
  const before = await bytes()
  expect(before.toString('latin1')).not.toMatch(/Archived (Gone|Kept)/)
  expect([await about(gone.id), await about(kept.id)]).toEqual([['Archived Gone'], ['Archived Kept']])
  await erase({ account_id: gone.id })
  await finish()
  expect([await about(gone.id), await about(kept.id)]).toEqual([['[erased]'], ['Archived Kept']])
  expect(await bytes()).toEqual(before)
  const { facts } = await openAuditArchive(node.config)
    .open(archived!.file!)
    .then(async (file) => ({ facts: await file.facts() }))
  expect(facts.rows).toBe(archived!.rows)
  expect((await personalData(`/accounts/${kept.id}/personal-data`)).audit).toEqual(
    expect.arrayContaining([expect.objectContaining({ action: 'account.create', after: expect.objectContaining({ name: 'Archived Kept' }) })]),
  )
})
