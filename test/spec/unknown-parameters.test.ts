// Query parameters that an operation does not have: warnings beside the data, or a refusal for callers who ask for it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ApiKey, NewApiKey } from '#accounts/credentials/credential-types.ts'
import { makeCatalogue, operator } from '../market/kit.ts'
import { send, startTestNode, type TestNode } from '../support/node.ts'

let node: TestNode
let items: Record<string, number>
let collection: number

beforeAll(async () => {
  node = await startTestNode()
  ;({ items } = await makeCatalogue(node))
  const { body } = await operator<{ id: number }>(node, 'POST', '/collections', { account_id: node.accounts.plus, name: 'Binder' })
  collection = body.data.id
})

afterAll(() => node.close())

interface Warned {
  warnings?: { parameter: string; did_you_mean: string | null }[]
}

async function read(path: string, headers: Record<string, string> = {}, key = node.keys.plus) {
  const { status, headers: answered, body } = await send(`${node.publicUrl}/api/v1${path}`, key, { headers })
  return { status, headers: answered, body: body as typeof body & Warned }
}

const STRICT = { prefer: 'handling=strict' }

describe('warnings', () => {
  test.each([
    ['/items?serch=char', 'serch', 'search'],
    ['/items?maket=source_a', 'maket', 'market'],
    ['/items?limit=5', 'limit', 'per_page'],
    ['/items?sort=price', 'sort', 'sort_by'],
    ['/items/search?q=char&colour=red', 'colour', null],
    ['/items/suggest?q=char&gmae=x', 'gmae', null],
    ['/categories?gaem=pokemon', 'gaem', 'game'],
    ['/groups?x=1', 'x', null],
    ['/markets?x=1', 'x', null],
    ['/plus/listings?max_prise=5', 'max_prise', 'max_price'],
    ['/plus/my-listings?stauts=sold', 'stauts', 'status'],
    ['/plus/recent-sales?limit=1', 'limit', 'per_page'],
    ['/plus/collections?with_values=1', 'with_values', 'with_value'],
    ['/plus/webhook?x=1', 'x', null],
  ])('%s', async (path, parameter, meant) => {
    const { status, headers, body } = await read(path)
    expect([status, body.warnings]).toEqual([200, [{ parameter, did_you_mean: meant }]])
    expect(headers.get('vary')?.toLowerCase()).toContain('prefer')
    const without = await read(path.replace(new RegExp(`[?&]${parameter}=[^&]*`), ''))
    const { warnings: _, ...rest } = body
    expect(without.body).toEqual(rest)
  })

  test('a path parameter in the query is unknown, and known parameters in any accepted spelling are not', async () => {
    expect((await read(`/items/${items.char}?id=5`)).body.warnings).toEqual([{ parameter: 'id', did_you_mean: null }])
    for (const path of [
      '/items?game[]=pokemon',
      '/plus/listings?game=pokemon&type[]=single',
      '/plus/listings?game%5B0%5D=pokemon',
      '/items?',
      '/items',
    ]) {
      expect([path, (await read(path)).body.warnings]).toEqual([path, undefined])
    }
  })

  test('are the same from a cache, and an entity tag covers them', async () => {
    const answers = [await read('/items?serch=a'), await read('/items?serch=a'), await read('/items?serch=a')]
    expect(answers.map(({ body }) => body.warnings)).toEqual(answers.map(() => [{ parameter: 'serch', did_you_mean: 'search' }]))
    const tag = answers[0]!.headers.get('etag')!
    expect(tag).not.toBe((await read('/items')).headers.get('etag'))
    const again = await fetch(`${node.publicUrl}/api/v1/items?serch=a`, {
      headers: { authorization: `Bearer ${node.keys.plus}`, 'if-none-match': tag },
    })
    expect(again.status).toBe(304)
    expect((await read('/items')).body.warnings).toBeUndefined()
  })

  test('are at most 20, with names of at most 100 characters', async () => {
    const { body } = await read(`/items?${Array.from({ length: 50 }, (_, i) => `${'x'.repeat(300)}${i}=1`).join('&')}`)
    expect(body.warnings).toHaveLength(20)
    expect(body.warnings![0]!.parameter).toHaveLength(100)
  })

  test('also come from the operator API', async () => {
    const { body } = await operator<unknown>(node, 'GET', '/items?serch=x')
    expect((body as Warned).warnings).toEqual([{ parameter: 'serch', did_you_mean: 'search' }])
  })
})

describe('strict handling', () => {
  test('refuses unknown parameters, each by name, also after the lenient response was cached', async () => {
    for (let i = 0; i < 3; i += 1) expect((await read('/items?serch=b')).status).toBe(200)
    const { status, headers, body } = await read('/items?serch=b&x=1', STRICT)
    expect([status, body.error]).toMatchObject([
      422,
      {
        code: 'VALIDATION_ERROR',
        message: 'serch is not a parameter of this operation; did you mean search?',
        details: [{ field: 'serch', rule: 'unknown_parameter' }, { field: 'x' }],
      },
    ])
    expect(headers.get('preference-applied')).toBe('handling=strict')
    expect((await read('/items?serch=b', STRICT)).status).toBe(422)
    expect((await read('/items?serch=b')).status).toBe(200)
  })

  test('changes nothing else', async () => {
    for (const path of ['/items', `/items/${items.char}?market=source_a`, '/plus/listings?game[]=pokemon', '/plus/collections']) {
      const [strict, lenient] = [await read(path, STRICT), await read(path)]
      expect([path, strict.status, strict.body]).toEqual([path, lenient.status, lenient.body])
      expect(strict.headers.get('preference-applied')).toBe('handling=strict')
      expect(strict.headers.get('vary')?.toLowerCase()).toContain('prefer')
    }
  })

  test('uses the error code of the family', async () => {
    expect((await read(`/plus/collections/${collection}/items?x=1`, STRICT)).body.error?.code).toBe('PLUS_COLLECTION_ERROR')
    expect((await read('/plus/my-listings?x=1', STRICT)).body.error?.code).toBe('VALIDATION_ERROR')
  })

  test('is read from the header as RFC 7240 writes it', async () => {
    for (const prefer of ['Handling = Strict', 'respond-async, handling="strict"; x=1', 'handling=strict;a']) {
      expect([prefer, (await read('/items?x=1', { prefer })).status]).toEqual([prefer, 422])
    }
    for (const prefer of ['', 'handling=lenient', 'strict', 'x-handling=strict', 'handling=lenient, handling=strict']) {
      expect([prefer, (await read('/items?x=1', { prefer })).status]).toEqual([prefer, 200])
    }
  })

  test('applies to every request of a strict key, which only operators change', async () => {
    const { body } = await operator<NewApiKey>(node, 'POST', `/accounts/${node.accounts.plus}/keys`, { strict: true })
    const { id, key, strict } = body.data
    expect(strict).toBe(true)
    expect((await read('/items?x=1', {}, key)).status).toBe(422)
    expect((await read('/me', {}, key)).body.data).toMatchObject({ key: { strict: true } })
    expect((await operator<ApiKey>(node, 'PATCH', `/keys/${id}`, { strict: false })).body.data.strict).toBe(false)
    expect((await read('/items?x=1', {}, key)).status).toBe(200)
    expect((await operator<ApiKey>(node, 'PATCH', `/keys/${id}`, { strict: true })).body.data.strict).toBe(true)
    const rotated = await operator<NewApiKey>(node, 'POST', `/keys/${id}/rotate`, {})
    expect((await read('/items?x=1', {}, rotated.body.data.key)).status).toBe(422)
  })
})
