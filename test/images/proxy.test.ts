// GET /images/...: contents of responses, what the cache stores, and every way in which a source of images can misbehave.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { importText, OPERATOR_TOKEN, send, startTestNode, type TestNode, type TestNodeOptions, until } from '../support/node.ts'
import { type Answer, image, type ImageServer, openImageServer, redirect, status } from './image-server.ts'

const DAY_MS = 86_400_000
const MB = 1024 * 1024
const PICTURE = randomBytes(3_000)

interface Item {
  id: number
  name: string
  images: { id: number; url: string; order: number }[]
}

let source: ImageServer
/** a node without the proxy; the others use its database */
let plain: TestNode
let node: TestNode
let slow: Promise<Response>
const folders: string[] = []

beforeAll(async () => {
  source = await openImageServer()
  plain = await startTestNode()
  node = await proxyNode()
  await addItem('slow', [source.at('/slow.png', (_request, response) => void response.writeHead(200, { 'content-type': 'image/png' }).write('x'))])
  slow = fetch((await itemOn(node, 'slow')).images[0]!.url)
})

afterAll(async () => {
  // Ends the requests that still wait for it.
  await source.close()
  await node.close()
  await plain.close()
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

function newFolder(): string {
  folders.push(mkdtempSync(join(tmpdir(), 'mintmark-images-')))
  return folders.at(-1)!
}

/** Another node on the same database, with the proxy on and its own cache by default. */
function proxyNode({ env, ...options }: TestNodeOptions = {}): Promise<TestNode> {
  return startTestNode({
    databaseUrl: plain.databaseUrl,
    ...options,
    env: { DATA_DIR: newFolder(), IMAGE_PROXY: 'on', WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8', ...env },
  })
}

const cached = (on: TestNode) => readdirSync(join(on.config.dataDir, 'images'))

/** Adds an item with these addresses, or changes them; waits until all nodes know it. */
async function addItem(name: string, urls: string[]): Promise<void> {
  const set = {
    type: 'category',
    market: 'service',
    ref: 'set',
    name: 'Set',
    game: 'pokemon',
    parent: null,
    image: source.at('/set.png', image(PICTURE)),
  }
  const images = urls.map((url, i) => ({ url, order: i + 1 }))
  const item = {
    type: 'item',
    market: 'service',
    ref: name,
    name,
    code: null,
    genre: 'single',
    game: 'pokemon',
    category: 'set',
    images,
    attributes: [],
    groups: [],
    details: {},
    foreign_ids: [],
  }
  const report = await importText(plain, 'mintmark-ndjson', `${JSON.stringify(set)}\n${JSON.stringify(item)}\n`)
  expect(report.errors).toEqual([])
}

async function itemOn(on: TestNode, name: string): Promise<Item> {
  let found: Item | undefined
  await until(`the item ${name}`, async () => {
    const { body } = await send<Item[]>(`${on.publicUrl}/api/v1/items?search=${encodeURIComponent(name)}`, on.keys.plus)
    found = body.data.find((item) => item.name === name)
    return found !== undefined
  })
  return found!
}

/** The address at which a node serves the image that the source has at this path. */
async function addressOf(path: string, answer: Answer, on = node): Promise<string> {
  const name = `item of ${path.replace(/\W+/g, ' ').trim()}`
  await addItem(name, [source.at(path, answer)])
  return (await itemOn(on, name)).images[0]!.url
}

const ask = (url: string, init: RequestInit = {}) => fetch(url, { redirect: 'manual', ...init })

async function refusalOf(response: Response): Promise<[number, string]> {
  const body = (await response.json()) as { success: boolean; error: { code: string } }
  expect(body.success).toBe(false)
  expect(response.headers.get('cache-control')).toBe('no-store')
  return [response.status, body.error.code]
}

describe('URLs in responses', () => {
  test('off: URLs as in the catalogue, and nothing is served', async () => {
    const url = source.at('/off.png', image(PICTURE))
    await addItem('off', [url])
    const item = await itemOn(plain, 'off')
    expect(item.images).toEqual([{ id: item.id * 100 + 1, url, order: 1 }])
    const { pathname } = new URL((await itemOn(node, 'off')).images[0]!.url)
    const { status, body } = await send(`${plain.publicUrl}${pathname}`, null)
    expect([status, body.error?.code]).toEqual([404, 'NOT_FOUND'])
    expect(source.askedFor('/off.png')).toBe(0)
  })

  test('on: REST and GraphQL return the same URLs below the public URL, the operator API those of the sources', async () => {
    const urls = [source.at('/front.png', image(PICTURE)), source.at('/back.png', image(PICTURE))]
    await addItem('both sides', urls)
    const { id, images } = await itemOn(node, 'both sides')
    for (const [i, { url, order }] of images.entries()) {
      expect(order).toBe(i + 1)
      expect(url).toMatch(new RegExp(`^${node.publicUrl}/images/items/${id}/${order}/[0-9a-f]{12}$`))
    }
    const query = `{ item(id: ${id}) { images { url order } category { id image } } }`
    const { body } = await send(`${node.publicUrl}/graphql`, node.keys.plus, { json: { query } })
    const answered = (body as unknown as { data: { item: { images: object[]; category: { id: string; image: string } } } }).data.item
    expect(answered.images).toEqual(images.map(({ url, order }) => ({ url, order })))
    expect(answered.category.image).toMatch(new RegExp(`^${node.publicUrl}/images/categories/${answered.category.id}/[0-9a-f]{12}$`))
    const picture = await ask(answered.category.image)
    expect([picture.status, Buffer.from(await picture.arrayBuffer())]).toEqual([200, PICTURE])
    const stored = await send<Item>(`${node.operatorUrl}/operator/v1/items/${id}`, OPERATOR_TOKEN)
    expect(stored.body.data.images.map(({ url }) => url)).toEqual(urls)
  })

  test('begin with PUBLIC_URL if it is set', { tags: 'slow' }, async () => {
    const behind = await proxyNode({ env: { PUBLIC_URL: 'https://cards.example/shop/' } })
    await addItem('behind', [source.at('/behind.png', image(PICTURE))])
    expect((await itemOn(behind, 'behind')).images[0]!.url).toMatch(/^https:\/\/cards\.example\/shop\/images\/items\/\d+\/1\/[0-9a-f]{12}$/)
    await behind.close()
  })

  test('a new URL of an image has a new path, and the old path is gone', { tags: 'slow' }, async () => {
    const before = await addressOf('/old.png', image(PICTURE))
    await addItem('item of old png', [source.at('/new.png', image(randomBytes(9)))])
    await until('the new address', async () => (await itemOn(node, 'item of old png')).images[0]!.url !== before)
    const after = (await itemOn(node, 'item of old png')).images[0]!.url
    expect(await refusalOf(await ask(before))).toEqual([404, 'NOT_FOUND'])
    expect((await ask(after)).status).toBe(200)
    expect(source.askedFor('/old.png')).toBe(0)
  })

  test('only images in the catalogue can be requested', async () => {
    const imagePath = new URL(await addressOf('/known.png', image(PICTURE))).pathname
    const [, , , id, order, version] = imagePath.split('/')
    const guessed = version!.replace(/./g, (digit) => (digit === '0' ? '1' : '0'))
    const paths = [
      `/images/items/${id}/${order}/${guessed}`,
      `/images/items/0${id}/${order}/${version}`,
      `/images/items/${id}/${order}/${version}/`,
      '/images',
      '/images/',
      '/images/items',
      `/images/items/${id}`,
      `/images/items/${id}/${order}`,
      `/images/items/${id}/2/${version}`,
      `/images/items/999999999/1/${version}`,
      `/images/items/99999999999999/1/${version}`,
      `/images/items/-1/1/${version}`,
      `/images/items/x/1/${version}`,
      `/images/items/${id}/0x1/${version}`,
      `/images/categories/999999/${version}`,
      `/images/categories/x/${version}`,
      `/images/${encodeURIComponent(source.url)}`,
      `/images/items/..%2f..%2fetc/1/passwd`,
    ]
    for (const path of paths) {
      const { status, body } = await send(`${node.publicUrl}${path}`, null)
      expect([path, status, body.error?.code]).toEqual([path, 404, 'NOT_FOUND'])
    }
    expect(source.askedFor('/known.png')).toBe(0)
  })
})

describe('the cache', () => {
  test('fetches an image once, and sends the headers that pages and caches need', async () => {
    const url = await addressOf('/card.webp', image(PICTURE, 'image/webp'))
    for (let i = 0; i < 3; i += 1) {
      const answer = await ask(url)
      expect(answer.status).toBe(200)
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'content-type': 'image/webp',
        'content-length': '3000',
        'x-content-type-options': 'nosniff',
        'cross-origin-resource-policy': 'cross-origin',
        'cache-control': 'public, max-age=86400, stale-while-revalidate=604800',
        etag: expect.stringMatching(/^"[0-9a-f]{16}"$/) as string,
        'access-control-allow-origin': '*',
      })
      expect(Buffer.from(await answer.arrayBuffer())).toEqual(PICTURE)
    }
    expect(source.askedFor('/card.webp')).toBe(1)
  })

  test('HEAD and If-None-Match return no body; other methods are rejected', async () => {
    const url = await addressOf('/head.png', image(PICTURE))
    const head = await ask(url, { method: 'HEAD' })
    expect([head.status, head.headers.get('content-length'), head.headers.get('content-type'), (await head.arrayBuffer()).byteLength]).toEqual([
      200,
      '3000',
      'image/png',
      0,
    ])
    const etag = head.headers.get('etag')!
    for (const method of ['GET', 'HEAD']) {
      const unchanged = await ask(url, { method, headers: { 'if-none-match': `"other", W/${etag}` } })
      expect([unchanged.status, unchanged.headers.get('etag'), await unchanged.text()]).toEqual([304, etag, ''])
    }
    expect((await ask(url, { headers: { 'if-none-match': '"other"' } })).status).toBe(200)
    const refused = await send(url, null, { method: 'POST', json: {} })
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  })

  test('twenty concurrent requests cause one request to the source', { tags: 'slow' }, async () => {
    const content = randomBytes(200_000)
    let answerAll = () => {}
    const url = await addressOf('/crowd.png', (request, response) => {
      answerAll = () => image(content)(request, response)
    })
    const answers = Array.from({ length: 20 }, () => ask(url))
    await until('the request to the source', () => source.askedFor('/crowd.png') > 0)
    answerAll()
    for (const answer of await Promise.all(answers)) expect(Buffer.from(await answer.arrayBuffer())).toEqual(content)
    expect(source.askedFor('/crowd.png')).toBe(1)
  })

  test('items with the same URL share the image', async () => {
    const url = source.at('/shared.png', image(PICTURE))
    await addItem('shared holo', [url])
    await addItem('shared reverse', [url])
    const addresses = await Promise.all(['shared holo', 'shared reverse'].map(async (name) => (await itemOn(node, name)).images[0]!.url))
    expect(new Set(addresses).size).toBe(2)
    for (const address of addresses) expect((await ask(address)).status).toBe(200)
    expect(source.askedFor('/shared.png')).toBe(1)
  })

  test('survives a restart, without leftovers of a crash', { tags: 'slow' }, async () => {
    const dataDir = newFolder()
    const first = await proxyNode({ env: { DATA_DIR: dataDir } })
    const { pathname } = new URL(await addressOf('/kept.png', image(PICTURE), first))
    await (await ask(first.publicUrl + pathname)).arrayBuffer()
    await first.close()
    const [old, recent] = [join(dataDir, 'images/new-old'), join(dataDir, 'images/new-recent')]
    for (const file of [old, recent]) writeFileSync(file, 'half')
    utimesSync(old, new Date(0), new Date(0))
    source.at('/kept.png', status(500))
    const second = await proxyNode({ env: { DATA_DIR: dataDir } })
    await itemOn(second, 'item of kept png')
    const answer = await ask(second.publicUrl + pathname)
    expect([answer.status, Buffer.from(await answer.arrayBuffer())]).toEqual([200, PICTURE])
    expect(source.askedFor('/kept.png')).toBe(1)
    await until('the old rest is removed', () => !cached(second).includes('new-old'))
    expect(cached(second)).toContain('new-recent')
    await second.close()
  })

  test('evicts the least recently used images when it is full, and fetches them again on request', { tags: 'slow' }, async () => {
    const small = await proxyNode({ env: { IMAGE_CACHE_MB: '16' } })
    const contents = [1, 2, 3].map(() => randomBytes(5 * MB))
    const urls: string[] = []
    for (const [i, content] of contents.entries()) urls.push(await addressOf(`/large-${i}.png`, image(content), small))
    const last = await addressOf('/large-3.png', image(randomBytes(5 * MB)), small)
    for (const url of urls) await (await ask(url)).arrayBuffer()
    expect(cached(small)).toHaveLength(3)
    // The first image is used again, so that the second one is evicted.
    await (await ask(urls[0]!)).arrayBuffer()
    await (await ask(last)).arrayBuffer()
    await until('a file less', () => cached(small).length === 3)
    await (await ask(urls[0]!)).arrayBuffer()
    await (await ask(urls[2]!)).arrayBuffer()
    expect(Buffer.from(await (await ask(urls[1]!)).arrayBuffer())).toEqual(contents[1])
    expect([0, 1, 2, 3].map((i) => source.askedFor(`/large-${i}.png`))).toEqual([1, 2, 1, 1])
    await small.close()
  })

  test('a manually deleted image is fetched again', async () => {
    const url = await addressOf('/removed.png', image(PICTURE))
    await ask(url)
    rmSync(join(node.config.dataDir, 'images'), { recursive: true })
    const answer = await ask(url)
    expect([answer.status, Buffer.from(await answer.arrayBuffer())]).toEqual([200, PICTURE])
    expect(source.askedFor('/removed.png')).toBe(2)
  })

  test('an image older than 30 days is served while it is fetched again, and stays if its source fails', async () => {
    const url = await addressOf('/aged.png', image(PICTURE))
    await ask(url)
    source.at('/aged.png', status(500))
    node.clock.advance(31 * DAY_MS)
    expect(Buffer.from(await (await ask(url)).arrayBuffer())).toEqual(PICTURE)
    await until('the failed request', () => source.askedFor('/aged.png') === 2)
    const fresh = randomBytes(100)
    source.at('/aged.png', image(fresh))
    await until('the new image', async () => {
      // After a failure, no request is sent to the source for a minute.
      node.clock.advance(60_001)
      return Buffer.from(await (await ask(url)).arrayBuffer()).equals(fresh)
    })
  })
})

describe('sources', () => {
  const large =
    (write: (response: Parameters<Answer>[1], content: Buffer) => void): Answer =>
    (_request, response) => {
      response.setHeader('content-type', 'image/png')
      write(response, Buffer.alloc(10 * MB + 1))
    }

  test.each<[string, Answer, [number, string]]>([
    ['404', status(404), [404, 'NOT_FOUND']],
    ['410', status(410), [404, 'NOT_FOUND']],
    ['500', status(500), [502, 'UPSTREAM_ERROR']],
    ['403', status(403), [502, 'UPSTREAM_ERROR']],
    ['206', status(206), [502, 'UPSTREAM_ERROR']],
    ['a page', image(PICTURE, 'text/html'), [502, 'UPSTREAM_ERROR']],
    ['an SVG', image(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'image/svg+xml'), [502, 'UPSTREAM_ERROR']],
    ['no type', (_request, response) => void response.end(PICTURE), [502, 'UPSTREAM_ERROR']],
    ['nothing', image(Buffer.alloc(0)), [502, 'UPSTREAM_ERROR']],
    [
      'packed bytes',
      (_request, response) => void response.writeHead(200, { 'content-type': 'image/png', 'content-encoding': 'gzip' }).end(PICTURE),
      [502, 'UPSTREAM_ERROR'],
    ],
    [
      'more than 10 MB, announced',
      large((response, content) => response.setHeader('content-length', content.length).end(content)),
      [502, 'UPSTREAM_ERROR'],
    ],
    ['more than 10 MB, unannounced', large((response, content) => response.write(content, () => response.end())), [502, 'UPSTREAM_ERROR']],
    [
      'half of it',
      (_request, response) =>
        void response.writeHead(200, { 'content-type': 'image/png', 'content-length': '100' }).write('half', () => response.destroy()),
      [502, 'UPSTREAM_ERROR'],
    ],
    ['no HTTP', (request) => void request.socket.end('nonsense'), [502, 'UPSTREAM_ERROR']],
    ['an endless redirect', (request, response) => redirect(request.url!)(request, response), [502, 'UPSTREAM_ERROR']],
    ['a redirect to another protocol', redirect('file:///etc/passwd'), [502, 'UPSTREAM_ERROR']],
    ['a redirect to a closed address', redirect('http://169.254.169.254/latest/meta-data'), [502, 'UPSTREAM_ERROR']],
  ])('%s', async (what, answer, expected) => {
    const path = `/bad-${what.replace(/\W+/g, '-')}.png`
    const url = await addressOf(path, answer)
    const before = cached(node)
    expect(await refusalOf(await ask(url))).toEqual(expected)
    const requestCount = source.askedFor(path)
    // The same response without another request to the source; nothing is written to disk.
    expect(await refusalOf(await ask(url))).toEqual(expected)
    expect(source.askedFor(path)).toBe(requestCount)
    expect(cached(node)).toEqual(before)
    source.at(path, image(PICTURE))
    node.clock.advance(10 * 60_000 + 1)
    expect((await ask(url)).status).toBe(200)
  })

  test.each(['image/avif', 'image/gif', 'image/jpeg', 'image/png', 'image/webp', 'IMAGE/PNG; charset=binary', 'image/jpg'])(
    '%s is accepted',
    async (type) => {
      const answer = await ask(await addressOf(`/type-${type.replace(/\W+/g, '-')}`, image(PICTURE, type)))
      expect([answer.status, answer.headers.get('content-type')]).toEqual([
        200,
        type === 'image/jpg' ? 'image/jpeg' : type.toLowerCase().split(';')[0],
      ])
    },
  )

  test('redirects are followed if the address guard allows them', async () => {
    const target = source.at('/target.png', image(PICTURE))
    const answer = await ask(await addressOf('/moved.png', redirect(target)))
    expect([answer.status, Buffer.from(await answer.arrayBuffer())]).toEqual([200, PICTURE])
    const own = await addressOf('/to-us.png', redirect(`${node.operatorUrl}/health/live`))
    expect(await refusalOf(await ask(own))).toEqual([502, 'UPSTREAM_ERROR'])
  })

  test('addresses blocked by the guard are not requested', { tags: 'slow' }, async () => {
    const strict = await proxyNode({ env: { WEBHOOK_ALLOW_CIDRS: 'none' } })
    const url = await addressOf('/closed.png', image(PICTURE), strict)
    expect(await refusalOf(await ask(url))).toEqual([502, 'UPSTREAM_ERROR'])
    expect(source.askedFor('/closed.png')).toBe(0)
    await strict.close()
  })

  test('an unreachable source, and an invalid address', async () => {
    await addItem('nobody', ['http://127.0.0.1:9/x.png', 'http://[x/y.png'])
    for (const { url } of (await itemOn(node, 'nobody')).images) expect(await refusalOf(await ask(url))).toEqual([502, 'UPSTREAM_ERROR'])
  })

  test('a slow body is aborted after ten seconds', { tags: 'slow' }, async () => {
    expect(await refusalOf(await slow)).toEqual([504, 'UPSTREAM_TIMEOUT'])
    expect(source.askedFor('/slow.png')).toBe(1)
  })

  test('metrics count how images were served', async () => {
    await (await ask(await addressOf('/counted.png', image(PICTURE)))).arrayBuffer()
    const text = await (await fetch(`${node.operatorUrl}/metrics`, { headers: { authorization: `Bearer ${OPERATOR_TOKEN}` } })).text()
    for (const outcome of ['cached', 'fetched', 'failed'])
      expect(text).toMatch(new RegExp(`^mintmark_image_requests_total\\{outcome="${outcome}"\\} [1-9]`, 'm'))
    expect(text).toMatch(/^mintmark_image_cache_bytes [1-9]/m)
  })
})
