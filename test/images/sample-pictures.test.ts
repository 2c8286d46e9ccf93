// The pictures of the sample: available for every item, on both listeners, our own drawings, and harmless.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type DemoNode, startDemoNode } from '../support/demo.ts'
import { send } from '../support/node.ts'

interface Item {
  id: number
  slug: string
  images: { url: string }[]
}

let demo: DemoNode

beforeAll(async () => {
  demo = await startDemoNode()
})
afterAll(() => demo.close())

async function allItems(): Promise<Item[]> {
  const items: Item[] = []
  for (let page = 1, more = true; more; page += 1) {
    const { body } = await send<Item[]>(`${demo.publicUrl}/api/v1/items?per_page=100&page=${page}`, demo.access.keys.enterprise)
    items.push(...body.data)
    more = body.pagination!.has_more
  }
  return items
}

test('every item of the demo has its own picture, on the public listener and for the console', { tags: 'slow' }, async () => {
  const items = await allItems()
  expect(items.length).toBeGreaterThan(350)
  const pictures = new Set<string>()
  for (const { slug, images } of items) {
    expect(images.map(({ url }) => url)).toEqual([`${demo.publicUrl}/sample/pictures/${slug}.svg`])
    const answer = await fetch(images[0]!.url)
    expect([slug, answer.status, answer.headers.get('content-type')]).toEqual([slug, 200, 'image/svg+xml'])
    const text = await answer.text()
    expect(text).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" viewBox="0 0 250 350"/)
    expect(text).not.toMatch(/<script|<image|<foreignObject|href|NaN|undefined/)
    pictures.add(text)
  }
  expect(pictures.size).toBe(items.length)
  const [first] = items
  const stored = await send<Item>(`${demo.operatorUrl}/operator/v1/items/${first!.id}`, demo.access.operatorToken)
  expect(stored.body.data.images[0]!.url).toBe(`/sample/pictures/${first!.slug}.svg`)
  const onConsole = await fetch(`${demo.operatorUrl}${stored.body.data.images[0]!.url}`)
  expect(onConsole.status).toBe(200)
  expect(Object.fromEntries(onConsole.headers)).toMatchObject({
    'cache-control': 'public, max-age=86400',
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
    etag: expect.any(String) as string,
  })
})

test.each(['x.svg', '', '../console/index.html', '..%2f..%2fpackage.json', 'x/../../package.json', '%00'])(
  '/sample/pictures/%s is rejected',
  async (name) => {
    for (const url of [demo.publicUrl, demo.operatorUrl]) {
      const { status, body } = await send(`${url}/sample/pictures/${name}`, null)
      expect([400, 403, 404]).toContain(status)
      expect(body.error?.code).toMatch(/NOT_FOUND|BAD_REQUEST/)
    }
  },
)

test('GraphQL returns the same picture', async () => {
  const query = '{ items(search: "charizard", first: 3) { nodes { slug images { url } } } }'
  const { body } = await send(`${demo.publicUrl}/graphql`, demo.access.keys.enterprise, { json: { query } })
  const { nodes } = (body as unknown as { data: { items: { nodes: Item[] } } }).data.items
  expect(nodes.length).toBeGreaterThan(0)
  for (const { slug, images } of nodes) expect(images).toEqual([{ url: `${demo.publicUrl}/sample/pictures/${slug}.svg` }])
})
