// Records added concurrently: one commit for many, and no write waits for an unrelated lock or fails because of an unrelated error.
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestNode, type TestNode, until } from '../support/node.ts'
import { collector, makeCollection, makeItems } from './kit.ts'

let node: TestNode
let ids: Record<string, number>
let plus: ReturnType<typeof collector>

beforeAll(async () => {
  node = await startTestNode()
  ids = await makeItems(node, [{ ref: 'char', name: 'Charizard', code: '4/102' }])
  plus = collector(node, node.keys.plus)
})

afterAll(() => node.close())

test('a locked collection delays only its own writes', async () => {
  const locked = await makeCollection(node, node.accounts.plus, 'Locked')
  const free = await makeCollection(node, node.accounts.plus, 'Free')
  let late: Promise<{ status: number }[]> = Promise.resolve([])
  await node.db.kysely.transaction().execute(async (tx) => {
    await tx.selectFrom('collections').select('id').where('id', '=', locked).forUpdate().execute()
    const { rows: own } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx)
    const waiting = async () => {
      const { rows } = await sql`select from pg_stat_activity where ${own[0]!.pid}::int4 = any(pg_blocking_pids(pid))`.execute(node.db.kysely)
      return rows.length > 0
    }
    late = Promise.all([1, 2].map(() => plus.add(locked, { item_id: ids.char })))
    await until('the locked collection keeps a batch waiting', waiting)
    for (let i = 0; i < 5; i += 1) expect((await plus.add(free, { item_id: ids.char })).status).toBe(201)
  })
  expect((await late).map((reply) => reply.status)).toEqual([201, 201])
  expect([await plus.count(locked), await plus.count(free)]).toEqual([2, 5])
})

test('a record that fails the statement does not affect the others of its batch', async () => {
  const collection = await makeCollection(node, node.accounts.plus, 'Breaking')
  await node.db.kysely.schema.alterTable('collection_items').addCheckConstraint('no_poison', sql`note <> 'poison'`).execute()
  const replies = await Promise.all(
    Array.from({ length: 20 }, (_, i) => plus.add(collection, { item_id: ids.char, note: i === 7 ? 'poison' : 'fine' })),
  )
  expect(replies.map((reply) => reply.status)).toEqual(Array.from({ length: 20 }, (_, i) => (i === 7 ? 500 : 201)))
  expect(await plus.count(collection)).toBe(19)
})

test('counts stay correct while records are added and removed concurrently', async () => {
  const collections = await Promise.all([1, 2, 3].map((n) => makeCollection(node, node.accounts.plus, `Busy ${n}`)))
  await Promise.all(
    Array.from({ length: 60 }, async (_, i) => {
      const collection = collections[i % 3]!
      const { id } = (await plus.add(collection, { item_id: ids.char })).body.data
      if (i % 4 === 0) expect((await plus.remove(collection, id)).status).toBe(200)
    }),
  )
  for (const collection of collections) {
    const listed = await plus.list(collection)
    expect(listed).toHaveLength(15)
    expect(await plus.count(collection)).toBe(15)
  }
})
