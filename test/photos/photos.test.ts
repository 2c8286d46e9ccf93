// Photos of sellers: what is stored of an upload, what is refused, who may upload, races, serving, removal, and the mark in the approval queue.
import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sharp from 'sharp'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ListingReview } from '#market/approval/review.ts'
import type { Photo } from '#photos/photo-types.ts'
import { DAY_MS, makeCatalogue, operator, pending, plus } from '../market/kit.ts'
import { OPERATOR_TOKEN, send, startTestNode, startTwoNodes, type TestNode } from '../support/node.ts'
import { openS3 } from '../support/s3.ts'
import { damaged, fromPhone, hugePng, plain } from './pictures.ts'
import { runs } from '../support/runs.ts'

let node: TestNode
let other: TestNode
let close: () => Promise<void>
let items: Record<string, number>

beforeAll(async () => {
  ;({ here: node, there: other, close } = await startTwoNodes({ PHOTOS_PER_ACCOUNT: '4', PUBLIC_URL: 'https://cards.example' }))
  ;({ items } = await makeCatalogue(node))
})
afterAll(() => close())
beforeEach(async () => {
  await open('plus', { quota: 100 })
  await open('enterprise', { quota: 100 })
})
afterEach(async () => {
  await node.db.kysely.deleteFrom('photos').execute()
  await node.db.kysely.deleteFrom('listings').execute()
})

type Seller = 'plus' | 'enterprise'
const open = (seller: Seller, listing_intake: object | null) => operator(node, 'PATCH', `/accounts/${node.accounts[seller]}`, { listing_intake })

interface Sent {
  at?: TestNode
  key?: string
  type?: string
  headers?: Record<string, string>
  query?: string
}

const upload = (body: Uint8Array | string, { at = node, key = node.keys.plus, type = 'image/jpeg', headers = {}, query = '' }: Sent = {}) =>
  send<Photo>(`${at.publicUrl}/api/v1/plus/images${query}`, key, { method: 'POST', body, headers: { 'content-type': type, ...headers } })

function form(parts: { name: string; file?: Uint8Array; text?: string }[]): { body: Buffer; type: string } {
  const lines = parts.flatMap(({ name, file, text }) => [
    Buffer.from(`--limit\r\nContent-Disposition: form-data; name="${name}"${file ? '; filename="a.jpg"\r\nContent-Type: image/jpeg' : ''}\r\n\r\n`),
    file ?? Buffer.from(text!),
    Buffer.from('\r\n'),
  ])
  return { body: Buffer.concat([...lines, Buffer.from('--limit--\r\n')]), type: 'multipart/form-data; boundary=limit' }
}

/** The file at an address in a response, from this node. */
const load = (url: string, init?: RequestInit) => fetch(url.replace('https://cards.example', node.publicUrl!), init)
const bytesAt = async (url: string) => Buffer.from(await (await load(url)).arrayBuffer())
const count = async () => (await node.db.kysely.selectFrom('photos').select('id').where('remove_after', 'is', null).execute()).length
const filesOf = ({ config }: TestNode) => readdirSync(config.photosDir)

describe('an upload', () => {
  test('of a phone is turned upright, loses its metadata, and is stored in three widths', async () => {
    const photo = await fromPhone(2400, 1800)
    const before = await sharp(photo).metadata()
    expect([before.orientation, before.exif?.includes('Phone'), before.icc === undefined]).toEqual([6, true, false])
    const { status, body } = await upload(photo)
    expect([status, body.data.sizes.map(({ width }) => width)]).toEqual([201, [320, 800, 1600]])
    expect(body.data).toEqual({
      id: expect.any(Number),
      url: body.data.sizes[2]!.url,
      sizes: body.data.sizes,
      sha256: createHash('sha256').update(photo).digest('hex'),
    })
    expect(body.data.url).toMatch(/^https:\/\/cards\.example\/images\/photos\/[0-9a-f]{32}\/1600\.webp$/)
    for (const { width, url } of body.data.sizes) {
      const { format, exif, xmp, icc, orientation, ...size } = await sharp(await bytesAt(url)).metadata()
      expect({ format, exif, xmp, icc, orientation, width: size.width, height: size.height }).toEqual({
        format: 'webp',
        width,
        height: Math.round((width * 4) / 3),
      })
    }
  })

  test.each([
    ['png', 'image/png', [320, 500]],
    ['webp', 'image/webp', [320, 500]],
    ['avif', 'image/avif', [320, 500]],
  ] as const)('may be %s, whatever the request calls it, and is never enlarged', async (format, type, widths) => {
    const image = await plain(500, 700)[format]().toBuffer()
    for (const sentType of [type, 'application/octet-stream', 'image/jpeg']) {
      const { status, body } = await upload(image, { type: sentType })
      expect([status, body.data.sizes.map(({ width }) => width)]).toEqual([201, widths])
    }
    expect(await count()).toBe(1)
  })

  test('may be the only file of a form', async () => {
    const image = await plain(30, 40).jpeg().toBuffer()
    const alone = form([{ name: 'file', file: image }])
    const { status, body } = await upload(alone.body, alone)
    expect([status, body.data.sha256]).toEqual([201, createHash('sha256').update(image).digest('hex')])
    expect((await upload(image)).body.data).toEqual(body.data)
    const wrong = [
      form([{ name: 'image', file: image }]),
      form([{ name: 'file', text: 'not a file' }]),
      form([
        { name: 'file', file: image },
        { name: 'title', text: 'x' },
      ]),
      form(Array.from({ length: 50_000 }, () => ({ name: 'a', text: '' }))),
      { ...alone, type: 'multipart/form-data' },
      { ...alone, type: 'multipart/form-data; boundary=other' },
      { ...alone, body: alone.body.subarray(0, -20) },
    ]
    for (const { body: sent, type } of wrong) {
      expect((await upload(sent, { type })).body.error).toMatchObject({ code: 'PLUS_LISTING_ERROR', details: [{ field: 'file', rule: 'only_file' }] })
    }
  })

  test('can be used in a listing', async () => {
    const { body } = await upload(await plain(400, 500).png().toBuffer())
    const listing = await plus<{ images: object[] }>(node, 'POST', '/listings', { item_id: items.char, price: 5, images: [body.data.url] })
    expect([listing.status, listing.body.data.images]).toEqual([201, [{ url: body.data.url, order: 1 }]])
  })
})

describe('refused', () => {
  const NOT_ALLOWED = { field: 'file', rule: 'photo_format', params: { values: ['JPEG', 'PNG', 'WebP', 'AVIF'] } }
  const refusal = async (body: Uint8Array | string, sent?: Sent) => {
    const reply = await upload(body, sent)
    return [reply.status, reply.body.error?.code, reply.body.error?.details?.[0] ?? reply.body.error?.rule]
  }

  test('other formats, by content', async () => {
    const jpeg = await plain(20, 20).jpeg().toBuffer()
    const others = {
      svg: '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(1)</script></svg>',
      gif: await plain(20, 20).gif().toBuffer(),
      tiff: await plain(20, 20).tiff().toBuffer(),
      pdf: '%PDF-1.7\n1 0 obj',
      text: 'hello',
      html: Buffer.concat([Buffer.from('<html><script>alert(1)</script>'), jpeg]),
      zip: Buffer.concat([Buffer.from('PK\u0003\u0004'), jpeg]),
      heic: Buffer.concat([Buffer.from([0, 0, 0, 24]), Buffer.from('ftypheic\0\0\0\0mif1heic')]),
      cut: Buffer.from([0xff, 0xd8]),
    }
    for (const [name, body] of Object.entries(others)) {
      expect([name, ...(await refusal(body))]).toEqual([name, 422, 'PLUS_LISTING_ERROR', expect.objectContaining(NOT_ALLOWED)])
    }
    expect(await refusal('{}', { type: 'application/json' })).toEqual([422, 'PLUS_LISTING_ERROR', expect.objectContaining(NOT_ALLOWED)])
    expect(await refusal('')).toEqual([422, 'PLUS_LISTING_ERROR', expect.objectContaining(NOT_ALLOWED)])
    const nothing = await send(`${node.publicUrl}/api/v1/plus/images`, node.keys.plus, { method: 'POST' })
    expect([nothing.status, nothing.body.error?.details]).toMatchObject([422, [NOT_ALLOWED]])
    expect(await count()).toBe(0)
  })

  test('damaged, too large and endless images', { tags: 'slow' }, async () => {
    const photo = await plain(900, 900).jpeg().toBuffer()
    const damage = [photo.subarray(0, 300), photo.subarray(0, -100), Buffer.concat([photo.subarray(0, 200), randomBytes(4_000)])]
    for (const body of damage) {
      expect(await refusal(body)).toEqual([422, 'PLUS_LISTING_ERROR', expect.objectContaining({ field: 'file', rule: 'photo_damaged' })])
    }
    const pixels = expect.objectContaining({ field: 'file', rule: 'photo_pixels', params: { max: 40 } }) as object
    expect(await refusal(hugePng(30_000, 30_000))).toEqual([422, 'PLUS_LISTING_ERROR', pixels])
    expect(await refusal(Buffer.alloc(10 * 1024 * 1024 + 1))).toEqual([413, 'PAYLOAD_TOO_LARGE', 'body_size'])
    // Long, but within the limit: no size is longer than WebP allows.
    expect((await upload(hugePng(2, 1_000_000))).status).toBe(201)
    expect((await upload(hugePng(1_000_000, 2))).status).toBe(201)
  })

  test('an archive or a page behind an image is not stored with it', async () => {
    const hidden = Buffer.concat([await plain(20, 20).jpeg().toBuffer(), Buffer.from('PK\u0003\u0004<script>alert(1)</script>')])
    const { status, body } = await upload(hidden)
    expect(status).toBe(201)
    expect((await bytesAt(body.data.url)).includes('script')).toBe(false)
  })

  test('damaged images: no 5xx', async () => {
    const number = runs(200)
    await open('plus', { quota: 100 })
    const image = plain(120, 90)
    const images = [await fromPhone(120, 90), await image.png().toBuffer(), await image.webp().toBuffer(), await image.avif().toBuffer()]
    const statuses = new Map<number, number>()
    for (const body of damaged(images, number, 20261127)) {
      const { status } = await upload(body)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      await node.db.kysely.deleteFrom('photos').execute()
    }
    expect([...statuses.keys()].filter((status) => status !== 201 && status !== 422)).toEqual([])
    expect(statuses.get(422)).toBeGreaterThan(number / 4)
    expect(statuses.get(201)).toBeGreaterThan(number / 40)
  })

  test('other plans, read-only keys, accounts without listing import, and dry runs', async () => {
    const image = await plain(20, 20).png().toBuffer()
    expect(await refusal(image, { key: node.keys.professional })).toEqual([403, 'PLAN_UPGRADE_REQUIRED', 'plan'])
    const { body } = await operator<{ key: string }>(node, 'POST', `/accounts/${node.accounts.plus}/keys`, { read_only: true })
    expect(await refusal(image, { key: body.data.key })).toEqual([403, 'READ_ONLY_KEY', 'read_only_key'])
    expect((await refusal(image, { query: '?dry_run=1' })).slice(0, 2)).toEqual([422, 'PLUS_LISTING_ERROR'])
    await open('plus', null)
    expect(await refusal(image)).toEqual([403, 'FORBIDDEN', 'intake_closed'])
    expect(await count()).toBe(0)
  })

  test('more photos than the account may have', async () => {
    const images = await Promise.all(
      Array.from({ length: 6 }, (_, n) =>
        plain(20 + n, 20)
          .png()
          .toBuffer(),
      ),
    )
    const statuses = (await Promise.all(images.map((image, n) => upload(image, { at: n % 2 ? other : node })))).map(({ status }) => status)
    expect(statuses.sort()).toEqual([201, 201, 201, 201, 422, 422])
    expect(await refusal(await plain(90, 90).png().toBuffer())).toEqual([422, 'PLUS_LISTING_ERROR', expect.objectContaining({ rule: 'photos_full' })])
    expect(await count()).toBe(4)
  })
})

describe('the same upload', () => {
  test('on two nodes at once is one photo, and another one of another account', async () => {
    const image = await plain(300, 400).jpeg().toBuffer()
    const replies = await Promise.all([node, other, node, other].map((at) => upload(image, { at })))
    expect(replies.map(({ status }) => status)).toEqual([201, 201, 201, 201])
    expect(new Set(replies.map(({ body }) => body.data.id)).size).toBe(1)
    const theirs = await upload(image, { key: node.keys.enterprise })
    expect([theirs.body.data.sha256, theirs.body.data.url]).toEqual([
      replies[0]!.body.data.sha256,
      expect.not.stringContaining(replies[0]!.body.data.url),
    ])
    expect(await count()).toBe(2)
    expect((await load(replies[0]!.body.data.url)).status).toBe(200)
  })

  test('with the same key returns the first response; another upload with that key is refused', async () => {
    const headers = { 'idempotency-key': 'photo' }
    const first = await upload(await plain(30, 30).png().toBuffer(), { headers })
    expect((await upload(await plain(30, 30).png().toBuffer(), { headers })).body).toEqual(first.body)
    expect((await upload(await plain(31, 30).png().toBuffer(), { headers })).body.error?.code).toBe('IDEMPOTENCY_CONFLICT')
  })
})

test('a photo is served to everyone and cached for ever, with entity tag, HEAD and a policy that runs nothing', async () => {
  const { url } = (await upload(await plain(60, 60).png().toBuffer())).body.data
  const first = await load(url)
  expect([first.status, first.headers.get('content-type'), first.headers.get('cache-control')]).toEqual([
    200,
    'image/webp',
    'public, max-age=31536000, immutable',
  ])
  expect(first.headers.get('content-security-policy')).toBe("default-src 'none'; sandbox")
  expect([first.headers.get('x-content-type-options'), first.headers.get('cross-origin-resource-policy')]).toEqual(['nosniff', 'cross-origin'])
  const etag = first.headers.get('etag')!
  const length = String((await first.arrayBuffer()).byteLength)
  const again = await load(url, { headers: { 'if-none-match': etag } })
  expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag])
  const head = await load(url, { method: 'HEAD' })
  expect([head.status, await head.text(), head.headers.get('content-length'), head.headers.get('etag')]).toEqual([200, '', length, etag])
  expect((await load(url, { method: 'POST' })).status).toBe(405)
  for (const wrong of [url.replace('/60.', '/61.'), url.replace(/photos\/./, 'photos/x'), url.replace('60.webp', '..%2f60.webp'), `${url}x`]) {
    const missing = await load(wrong)
    expect([wrong, missing.status, missing.headers.get('cache-control')]).toEqual([wrong, 404, 'no-store'])
  }
})

describe('photos that no unsold listing uses', () => {
  const forget = () => node.runTask('photo-retention')

  test('are removed with their files after 30 days; those of listings stay', async () => {
    const used = (await upload(await plain(50, 50).png().toBuffer())).body.data
    const unused = (await upload(await plain(51, 50).png().toBuffer())).body.data
    const { id } = await pending(node, items.char!, { images: [used.url, 'https://a.example/1.png'] })
    node.clock.advance(29 * DAY_MS)
    await forget()
    expect([(await load(used.url)).status, (await load(unused.url)).status]).toEqual([200, 200])
    node.clock.advance(2 * DAY_MS)
    await forget()
    await forget()
    expect([(await load(used.url)).status, (await load(unused.url)).status]).toEqual([200, 404])
    expect(filesOf(node).filter((name) => unused.url.includes(name.slice(0, 32)))).toEqual([])
    await node.db.kysely.deleteFrom('listings').where('id', '=', id).execute()
    node.clock.advance(DAY_MS)
    await forget()
    node.clock.advance(29 * DAY_MS)
    // Uploading it again keeps it for another 30 days.
    expect((await upload(await plain(50, 50).png().toBuffer())).body.data).toEqual(used)
    node.clock.advance(2 * DAY_MS)
    await forget()
    expect((await load(used.url)).status).toBe(200)
    node.clock.advance(30 * DAY_MS)
    await forget()
    expect((await load(used.url)).status).toBe(404)
    const again = (await upload(await plain(50, 50).png().toBuffer())).body.data
    expect(again.url).not.toBe(used.url)
    expect((await load(again.url)).status).toBe(200)
  })

  test('what a refused upload has written is removed an hour later', async () => {
    const image = await plain(70, 70).png().toBuffer()
    await Promise.all([node, other].map((at) => upload(image, { at })))
    node.clock.advance(61 * 60_000)
    await forget()
    const rows = await node.db.kysely.selectFrom('photos').selectAll().execute()
    expect(rows).toHaveLength(1)
    expect((await load((await upload(image)).body.data.url)).status).toBe(200)
  })
})

test('the approval queue marks a photo that another account has uploaded, too', async () => {
  const image = await plain(80, 80).png().toBuffer()
  const mine = (await upload(image)).body.data
  const own = await pending(node, items.char!, { images: [mine.url] })
  const marks = async () => {
    const { body } = await operator<{ id: number; review: ListingReview }[]>(node, 'GET', '/listings/waiting')
    return Object.fromEntries(body.data.map(({ id, review }) => [id, review.photo_of_other_seller]))
  }
  expect(await marks()).toEqual({ [own.id]: false })
  const theirs = (await upload(image, { key: node.keys.enterprise })).body.data
  const copied = await pending(node, items.char!, { seller_id: node.accounts.enterprise, images: ['https://a.example/1.png', theirs.url] })
  const address = await pending(node, items.char!, { seller_id: node.accounts.enterprise, images: [mine.sizes[0]!.url] })
  const elsewhere = await pending(node, items.char!, { images: ['https://a.example/images/photos/1.webp'] })
  expect(await marks()).toEqual({ [own.id]: true, [copied.id]: true, [address.id]: true, [elsewhere.id]: false })
  const saved = (await upload(await bytesAt(mine.url), { key: node.keys.enterprise })).body.data
  const again = await pending(node, items.char!, { seller_id: node.accounts.enterprise, images: [saved.url] })
  await node.db.kysely.deleteFrom('photos').where('id', '=', theirs.id).execute()
  expect(await marks()).toMatchObject({ [own.id]: false, [copied.id]: false, [address.id]: true, [again.id]: true })
  expect((await operator<ListingReview>(node, 'GET', `/listings/${again.id}/review`)).body.data.photo_of_other_seller).toBe(true)
  // The seller of the listing replaces its photo by one of the other account.
  const ofOther = (await upload(await plain(45, 60).png().toBuffer(), { key: node.keys.enterprise })).body.data
  expect((await plus(node, 'PATCH', `/listings/${own.id}`, { images: [ofOther.url] })).status).toBe(200)
  expect(await marks()).toMatchObject({ [own.id]: true })
})

test('photos may be in the bucket of the dumps', { tags: 'slow' }, async () => {
  const store = await openS3()
  const folder = mkdtempSync(join(tmpdir(), 'mintmark-photos-'))
  const inBucket = await startTestNode({ databaseUrl: node.databaseUrl, env: { ...store.settings, PHOTOS_DIR: folder } })
  const image = await plain(40, 60).png().toBuffer()
  const { status, body } = await upload(image, { at: inBucket })
  expect([status, readdirSync(folder)]).toEqual([201, []])
  const served = await fetch(body.data.url)
  expect([served.status, (await sharp(await served.arrayBuffer()).metadata()).width]).toEqual([200, 40])
  expect((await fetch(body.data.url.replace('40.webp', '41.webp'))).status).toBe(404)
  await store.stop()
  expect([(await fetch(body.data.url)).status, (await upload(await plain(41, 60).png().toBuffer(), { at: inBucket })).status]).toEqual([503, 503])
  await store.start()
  inBucket.clock.advance(31 * DAY_MS)
  await inBucket.runTask('photo-retention')
  inBucket.clock.advance(DAY_MS)
  await inBucket.runTask('photo-retention')
  expect((await fetch(body.data.url)).status).toBe(404)
  await inBucket.close()
  await store.close()
  rmSync(folder, { recursive: true })
})

test('operators cannot upload: photos belong to accounts', async () => {
  expect((await upload(await plain(20, 20).png().toBuffer(), { key: OPERATOR_TOKEN })).status).toBe(401)
})
