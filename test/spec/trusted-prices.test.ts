// Trusted prices, over HTTP only: what is held and decided, what a revert restores, and the history.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { OPERATOR_TOKEN, type Reply, send, startTestNode, type TestNode, until } from '../support/node.ts'

let node: TestNode
let category: number

beforeAll(async () => {
  node = await startTestNode()
  category = (await operator('/categories', { json: { name: 'Set', game: 'pokemon', market: 'source_c' } })).body.data.id
})
afterAll(() => node.close())

interface Row {
  id: number
  [field: string]: unknown
}

const operator = <T = Row>(path: string, sending: Parameters<typeof send>[2] = {}): Promise<Reply<T>> =>
  send<T>(`${node.operatorUrl}/operator/v1${path}`, OPERATOR_TOKEN, sending)

let count = 0
async function item(fields: object = {}): Promise<number> {
  count += 1
  const { body } = await operator('/items', {
    json: { name: `Card ${count}`, ref: `card:${count}`, market: 'source_c', category_id: category, ...fields },
  })
  return body.data.id
}

interface Posted {
  import_id: number
  accepted: number
  unchanged: number
  held: number
  rejected: number
}

async function post(item_id: number, price: number, fields: object = {}): Promise<Posted> {
  const row = { item_id, market: 'source_c', label: 'Near Mint', price, updated_at: '2026-11-01T00:00:00Z', ...fields }
  return (await operator<Posted>('/prices', { json: [row] })).body.data
}

/** State and flags of an item's prices by market; the last label counts if there are several. */
async function statesOf(id: number): Promise<Record<string, string>> {
  const { body } = await operator<{ prices: { market: string; state: string; flags: string[] }[] }>(`/items/${id}`)
  return Object.fromEntries(body.data.prices.map(({ market, state, flags }) => [market, `${state} ${flags.join(' ')}`]))
}

async function priceOf(id: number, label = 'Near Mint'): Promise<number | undefined> {
  const { body } = await send<{ prices: { label: string; price: number }[] }>(`${node.publicUrl}/api/v1/items/${id}`, node.keys.starter)
  return body.data.prices.find((price) => price.label === label)?.price
}

const heldOf = async (id: number) => (await operator<Row[]>(`/held-prices?item_id=${id}`)).body.data
const history = async (id: number) => {
  const { body } = await operator<{ price: number; updated_at: string }[]>(`/items/${id}/price-history`)
  return body.data.map(({ price, updated_at }) => [price, updated_at.slice(0, 10)])
}
const revert = (importId: number) => operator(`/imports/${importId}/revert`, { method: 'POST' })

describe('held prices', () => {
  test('are not published until they are accepted', async () => {
    const id = await item()
    await post(id, 10)
    const { import_id } = await post(id, 50, { updated_at: '2026-11-02T00:00:00Z' })
    expect(await priceOf(id)).toBe(10)
    const [held] = await heldOf(id)
    expect(held).toMatchObject({
      import_id,
      rule: 'jump',
      price: 50,
      compared_price: 10,
      times_off: 5,
      state: 'open',
      item: { id, name: `Card ${count}` },
      label: 'Near Mint',
    })
    expect((await operator(`/imports/${import_id}`)).body.data).toMatchObject({ held: 1, held_by_rule: { jump: 1 }, worst_held: [{ id: held!.id }] })
    const accepted = await operator(`/held-prices/${held!.id}/accept`, { method: 'POST' })
    expect(accepted.body.data).toMatchObject({ state: 'accepted', decided_by: expect.stringContaining('operator:') })
    expect([await priceOf(id), await history(id)]).toEqual([
      50,
      [
        [10, '2026-11-01'],
        [50, '2026-11-02'],
      ],
    ])
    expect((await operator(`/held-prices/${held!.id}/accept`, { method: 'POST' })).body.error!.code).toBe('CONFLICT')
    expect((await operator(`/held-prices/${held!.id}/discard`, { method: 'POST' })).status).toBe(409)
    expect((await operator('/held-prices/999999/accept', { method: 'POST' })).status).toBe(404)
    expect((await operator('/held-prices/999999999999999999999/accept', { method: 'POST' })).status).toBe(404)
  })

  test('are held once, and not again after they were discarded', async () => {
    const id = await item()
    await post(id, 10)
    const wrong = { updated_at: '2026-11-02T00:00:00Z' }
    expect(await post(id, 1000, wrong)).toMatchObject({ held: 1 })
    expect(await post(id, 1000, wrong)).toMatchObject({ held: 0, unchanged: 1 })
    const [held] = await heldOf(id)
    await operator(`/held-prices/${held!.id}/discard`, { method: 'POST' })
    expect(await post(id, 1000, wrong)).toMatchObject({ held: 0, unchanged: 1 })
    expect([await priceOf(id), await heldOf(id)]).toEqual([10, []])
  })

  test('prices that differ greatly are disputed on both sides if there is a rate', async () => {
    const id = await item()
    await post(id, 100)
    expect(await post(id, 10, { market: 'source_b' })).toMatchObject({ accepted: 1 })
    expect(await statesOf(id)).toEqual({ source_b: 'trusted no_rate', source_c: 'trusted no_rate' })
    const rates = [
      { day: '2026-10-01', currency: 'USD', rate: 40 },
      { day: '2026-10-01', currency: 'EUR', rate: 50 },
    ]
    expect((await operator('/rates', { json: rates })).body.data).toEqual({ rates: 2 })
    const other = await item()
    await post(other, 100)
    expect(await post(other, 16, { market: 'source_b' })).toMatchObject({ held: 0, accepted: 1 })
    expect(await statesOf(other)).toEqual({ source_b: 'disputed other_markets', source_c: 'disputed other_markets' })
    expect(await post(other, 70, { market: 'source_b', updated_at: '2026-11-02T00:00:00Z' })).toMatchObject({ accepted: 1 })
    expect(await statesOf(other)).toEqual({ source_b: 'trusted ', source_c: 'trusted ' })
    expect((await operator<Row[]>('/rates')).body.data).toMatchObject([...rates].reverse())
  })

  test('a PSA 10 below Near Mint is disputed with it, and a date in the future is held', async () => {
    const id = await item()
    await post(id, 100)
    expect(await post(id, 99, { label: 'PSA 10' })).toMatchObject({ accepted: 1 })
    expect(await statesOf(id)).toEqual({ source_c: 'disputed grade_order' })
    const future = new Date(Date.now() + 25 * 3_600_000).toISOString()
    expect(await post(id, 101, { updated_at: future })).toMatchObject({ held: 1 })
    expect((await heldOf(id)).map((held) => held.rule)).toEqual(['future_date'])
  })

  test('a price whose foreign id is on two items is held, and accepted for the correct one', async () => {
    const twins = [{ source: 'tcgplayer', id: '777' }]
    const [a, b] = [await item({ foreign_ids: twins }), await item({ foreign_ids: twins })]
    const file = 'productId,date,marketPrice\n777,2026-11-03,4.50\n'
    const started = await operator('/imports/sealed-daily', { method: 'POST', body: file })
    await until('the import', async () => (await operator(`/imports/${started.body.data.id}`)).body.data.status === 'done')
    const [held] = await heldOf(a)
    expect(held).toMatchObject({
      rule: 'foreign_id',
      price: 4.5,
      reason: expect.any(String) as string,
      params: { source: 'tcgplayer', id: '777', items: [a, b] },
    })
    await operator(`/held-prices/${held!.id}/accept`, { json: { item_id: b } })
    expect([await priceOf(a), await priceOf(b)]).toEqual([undefined, 4.5])
  })

  test('are decided by rule', async () => {
    const ids = [await item(), await item()]
    const posts: Posted[] = []
    for (const id of ids) {
      await post(id, 1)
      posts.push(await post(id, 9, { updated_at: '2026-11-05T00:00:00Z' }))
    }
    expect((await operator('/held-prices/accept', { json: {} })).status).toBe(422)
    expect((await operator('/held-prices/accept', { json: { rule: 'guess' } })).status).toBe(422)
    const discarded = await operator('/held-prices/discard', { json: { rule: 'jump', import_id: posts[0]!.import_id } })
    expect(discarded.body.data).toEqual({ decided: 1 })
    const accepted = await operator('/held-prices/accept', { json: { rule: 'jump' } })
    expect(accepted.body.data).toEqual({ decided: 1 })
    expect([await priceOf(ids[0]!), await priceOf(ids[1]!)]).toEqual([1, 9])
  })
})

describe('a revert', () => {
  test('restores the previous prices, and is itself a batch', async () => {
    const id = await item()
    await post(id, 10, { updated_at: '2026-11-01T00:00:00Z' })
    const second = await post(id, 12, { updated_at: '2026-11-02T00:00:00Z' })
    const back = await revert(second.import_id)
    expect(back.body.data).toMatchObject({ format: 'revert', status: 'done', accepted: 1, reverts_import_id: second.import_id })
    expect([await priceOf(id), await history(id)]).toEqual([10, [[10, '2026-11-01']]])
    expect((await operator(`/imports/${second.import_id}`)).body.data).toMatchObject({ reverted_by_import_id: back.body.data.id })
    expect((await revert(second.import_id)).body.error!.code).toBe('CONFLICT')
    await revert(back.body.data.id)
    expect([await priceOf(id), await history(id)]).toEqual([
      12,
      [
        [10, '2026-11-01'],
        [12, '2026-11-02'],
      ],
    ])
    expect((await revert(second.import_id)).status).toBe(200)
    expect(await priceOf(id)).toBe(10)
  })

  test('removes a first price, and discards held ones', async () => {
    const id = await item()
    const first = await post(id, 10)
    await revert(first.import_id)
    expect([await priceOf(id), await history(id)]).toEqual([undefined, []])
    await post(id, 10)
    const jump = await post(id, 999, { updated_at: '2026-11-02T00:00:00Z' })
    await revert(jump.import_id)
    expect(await heldOf(id)).toEqual([])
  })

  test('leaves prices that a newer batch set', async () => {
    const id = await item()
    await post(id, 10, { updated_at: '2026-11-01T00:00:00Z' })
    const wrong = await post(id, 12, { updated_at: '2026-11-02T00:00:00Z' })
    await post(id, 11, { updated_at: '2026-11-03T00:00:00Z' })
    expect((await revert(wrong.import_id)).body.data).toMatchObject({ accepted: 0 })
    expect([await priceOf(id), await history(id)]).toEqual([
      11,
      [
        [10, '2026-11-01'],
        [11, '2026-11-03'],
      ],
    ])
  })

  test('restores what another price with the same time had replaced, in any order of reverts', async () => {
    for (const order of [
      [1, 2],
      [2, 1],
    ]) {
      const id = await item()
      const batches = [await post(id, 10), await post(id, 11), await post(id, 12)]
      for (const position of order) await revert(batches[position]!.import_id)
      expect([await priceOf(id), await history(id)]).toEqual([10, [[10, '2026-11-01']]])
    }
  })

  test('is rejected if there is nothing to revert', async () => {
    expect((await revert(999_999)).status).toBe(404)
    const failed = await operator('/imports/tcgdex', { method: 'POST', body: 'x' })
    const { id } = failed.body.data
    await until('the import', async () => (await operator(`/imports/${id}`)).body.data.status === 'failed')
    expect((await revert(id)).body.error!.code).toBe('CONFLICT')
  })

  test('of two concurrent reverts, one is executed', async () => {
    const id = await item()
    const { import_id } = await post(id, 10)
    const statuses = await Promise.all([revert(import_id), revert(import_id), revert(import_id)])
    expect(statuses.map((reply) => reply.status).sort()).toEqual([200, 409, 409])
  })
})

test('statistics contain the health of the sources', async () => {
  const { status, body } = await operator<{ sources: Row[]; imports: object }>('/stats')
  expect(status).toBe(200)
  const near = body.data.sources.find((source) => source.market === 'source_c' && source.group === 'Ungraded')!
  expect(near).toMatchObject({ prices: expect.any(Number), last_price_at: expect.any(String), last_feed_at: expect.any(String) })
  expect(near.coverage).toBeGreaterThan(0)
  expect(near.held_share).toBeGreaterThanOrEqual(0)
  expect(body.data.imports).toMatchObject({ done: expect.any(Number) })
})

test('two concurrent imports of one market both finish, and the later statement wins', { tags: 'slow' }, async () => {
  const id = await item()
  const csv = (price: string, day: string) => `item_ref,market,label,price,updated_at\ncard:${count},source_c,Near Mint,${price},${day}T00:00:00Z\n`
  const ids = await Promise.all(
    [csv('2.00', '2026-11-02'), csv('3.00', '2026-11-03'), csv('3.00', '2026-11-03')].map(async (body) => {
      return (await operator('/imports/mintmark-prices-csv', { method: 'POST', body })).body.data.id
    }),
  )
  for (const importId of ids) {
    await until('the import', async () => (await operator(`/imports/${importId}`)).body.data.status === 'done')
  }
  expect(await priceOf(id)).toBe(3)
})
