// Pictures that listings link from elsewhere: copied once, shown from the copy without a new approval, retried, bounded, and marked if they fail.
import sharp from 'sharp'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ListingReview } from '#market/approval/review.ts'
import type { OwnListing, StoredListing } from '#market/marketplace-types.ts'
import { type Answer, image, type ImageServer, openImageServer, redirect, status } from '../images/image-server.ts'
import { DAY_MS, makeCatalogue, operator, pending, plus, published } from '../market/kit.ts'
import { startTestNode, type TestNode } from '../support/node.ts'
import { fromPhone, hugePng, plain } from './pictures.ts'

const MAX_PHOTOS = 8
const ENV = { PUBLIC_URL: 'https://cards.example', PHOTOS_PER_ACCOUNT: String(MAX_PHOTOS), WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' }
const HOUR_MS = DAY_MS / 24
let source: ImageServer
let node: TestNode
let other: TestNode
let items: Record<string, number>
let paths = 0

beforeAll(async () => {
  source = await openImageServer()
  node = await startTestNode({ worker: true, env: ENV })
  other = await startTestNode({ worker: true, env: ENV, databaseUrl: node.databaseUrl })
  ;({ items } = await makeCatalogue(node))
  for (const one of [node, other]) one.clock.stop()
})
afterAll(async () => {
  await other.close()
  await node.close()
  await source.close()
})
beforeEach(() => clear())
afterEach(() => clear())

async function clear(): Promise<void> {
  for (const table of ['picture_copies', 'listings', 'photos'] as const) await node.db.kysely.deleteFrom(table).execute()
}

/** A new address of the source. */
const at = (answer: Answer) => source.at(`/${(paths += 1)}.jpg`, answer)
const jpeg = async (colour = '#aa2222') => image(await fromPhone(400, 560, colour), 'image/jpeg')
const copy = (on = node) => on.runTask('picture-copies')
const stored = async (id: number) => (await operator<StoredListing>(node, 'GET', `/listings/${id}`)).body.data
const urls = async (id: number) => (await stored(id)).images.map(({ url }) => url)
const review = async (id: number) => (await operator<ListingReview>(node, 'GET', `/listings/${id}/review`)).body.data
const photos = () => node.db.kysely.selectFrom('photos').selectAll().where('remove_after', 'is', null).execute()
const states = () => node.db.kysely.selectFrom('picture_copies').selectAll().orderBy('id').execute()
const askedFor = (url: string) => source.askedFor(new URL(url).pathname)
const load = (url: string) => fetch(url.replace('https://cards.example', node.publicUrl!))
const advance = (ms: number) => {
  for (const one of [node, other]) one.clock.advance(ms)
}
const OURS = /^https:\/\/cards\.example\/images\/photos\/[0-9a-f]{32}\/\d+\.webp$/

describe('a linked picture', () => {
  test('is copied, without metadata, and the listing shows the copy: no new approval, no new version, and the address in the audit log', async () => {
    const url = at(await jpeg())
    const { id } = await published(node, items.char!, { images: ['https://a.example/sample.svg', { url, order: 9 }] })
    const before = await stored(id)
    await copy()
    const after = await stored(id)
    expect(after.images).toEqual([before.images[0], { url: expect.stringMatching(OURS) as string, order: 9 }])
    expect({ ...after, images: before.images }).toEqual(before)
    const bytes = Buffer.from(await (await load(after.images[1]!.url)).arrayBuffer())
    const { format, exif, orientation, width } = await sharp(bytes).metadata()
    expect({ format, exif, orientation, width }).toEqual({ format: 'webp', exif: undefined, orientation: undefined, width: 560 })
    expect((await photos())[0]!.widths).toEqual([320, 560])
    const entries = await operator<{ action: string; actor: string; before: object; after: object }[]>(
      node,
      'GET',
      `/audit?subject=listing&subject_id=${id}&per_page=1`,
    )
    expect(entries.body.data[0]).toMatchObject({
      action: 'listing.copy_picture',
      actor: 'system',
      before: { images: before.images },
      after: { images: after.images },
    })
    expect((await review(id)).linked_pictures).toEqual([{ url: after.images[1]!.url, copied_from: url, problem: null }])
    // Paused and published again, it needs no approval, and an edit with the earlier entity tag succeeds.
    await plus(node, 'POST', `/listings/${id}/status?action=pause`, undefined, { headers: { 'if-match': before.etag } })
    expect((await plus<OwnListing>(node, 'POST', `/listings/${id}/status?action=publish`)).body.data.status).toBe('active')
  })

  test('is fetched once for all listings of the account, and again for another account', async () => {
    const url = at(await jpeg())
    const mine = [await published(node, items.char!, { images: [url] }), await pending(node, items.char!, { images: [url] })]
    await Promise.all([copy(), copy(other)])
    await copy()
    const [copied] = await urls(mine[0]!.id)
    expect(copied).toMatch(OURS)
    expect(await urls(mine[1]!.id)).toEqual([copied])
    expect(askedFor(url)).toBe(1)
    // The seller sends the address again, as an import of the same file does.
    await plus(node, 'PATCH', `/listings/${mine[0]!.id}`, { images: [url] })
    expect((await stored(mine[0]!.id)).status).toBe('pending')
    await copy()
    expect([await urls(mine[0]!.id), askedFor(url)]).toEqual([[copied], 1])
    expect((await stored(mine[0]!.id)).changed_since_approval).toEqual([])
    const theirs = await pending(node, items.char!, { images: [url], seller_id: node.accounts.enterprise })
    await copy()
    expect(await urls(theirs.id)).not.toEqual([copied])
    expect(askedFor(url)).toBe(2)
    expect([(await review(theirs.id)).photo_of_other_seller, (await photos()).length]).toEqual([true, 2])
  })

  test('whose address only looks like that of a photo is copied, too; an own photo on another host gets its own address again', async () => {
    const own = `/images/photos/${'a'.repeat(32)}/1.webp`
    const { id } = await pending(node, items.char!, { images: [source.at(own, await jpeg())] })
    await copy()
    const [first] = await urls(id)
    expect([first, source.askedFor(own)]).toEqual([expect.stringMatching(OURS), 1])
    const foreign = source.at(new URL(first!).pathname, await jpeg('#22aa22'))
    const second = await pending(node, items.char!, { images: [foreign] })
    await copy()
    expect([await urls(second.id), askedFor(foreign)]).toEqual([[first], 0])
    const theirs = await pending(node, items.char!, { images: [foreign], seller_id: node.accounts.enterprise })
    await copy()
    expect([askedFor(foreign), (await urls(theirs.id))[0] === first]).toEqual([1, false])
  })

  test('that the seller replaces while it is fetched stays replaced; one of a sold or deleted listing is not fetched', async () => {
    let answered = () => {}
    let arrived = () => {}
    const arrival = new Promise<void>((resolve) => (arrived = resolve))
    const bytes = await fromPhone(90, 90)
    const url = at((_request, response) => {
      answered = () => void response.writeHead(200, { 'content-type': 'image/jpeg' }).end(bytes)
      arrived()
    })
    const { id } = await published(node, items.char!, { images: [url] })
    const running = copy()
    await arrival
    await plus(node, 'PATCH', `/listings/${id}`, { images: ['https://a.example/new.svg'] })
    answered()
    await running
    expect(await urls(id)).toEqual(['https://a.example/new.svg'])
    const gone = at(await jpeg())
    const sold = await published(node, items.char!, { images: [gone] })
    await node.db.kysely.updateTable('listings').set({ status: 'sold', quantity: 0 }).where('id', '=', sold.id).execute()
    await copy()
    expect(askedFor(gone)).toBe(0)
  })

  test('is not copied if the operator switches it off, no photos are stored, or their public address is not known', { tags: 'slow' }, async () => {
    for (const [name, value] of [
      ['COPY_PICTURES', 'off'],
      ['PHOTOS_PER_ACCOUNT', '0'],
      ['PUBLIC_URL', ''],
    ] as const) {
      const off = await startTestNode({ worker: true, databaseUrl: node.databaseUrl, env: { ...ENV, [name]: value } })
      expect(off.tasks().some(({ name }) => name === 'picture-copies')).toBe(false)
      await off.close()
    }
  })
})

describe('a picture that cannot be copied', () => {
  test('is retried over hours, then left as it is and marked for the reviewer', async () => {
    const missing = at(status(404))
    const { id } = await pending(node, items.char!, { images: [missing] })
    for (const [hours, attempts] of [
      [0, 1],
      [0.1, 1],
      [0.1, 2],
      [1, 3],
      [5, 3],
      [1, 4],
      [100, 4],
    ] as const) {
      advance(hours * HOUR_MS)
      await copy()
      expect([hours, askedFor(missing)]).toEqual([hours, attempts])
    }
    expect(await urls(id)).toEqual([missing])
    expect((await review(id)).linked_pictures).toEqual([{ url: missing, copied_from: null, problem: 'missing' }])
    const waiting = await operator<{ id: number; review: ListingReview }[]>(node, 'GET', '/listings/waiting')
    expect(waiting.body.data[0]!.review.linked_pictures).toHaveLength(1)
    // After months, it is tried again.
    advance(90 * DAY_MS)
    await node.runTask('picture-copy-retention')
    source.at(new URL(missing).pathname, await jpeg())
    await copy()
    expect(await urls(id)).toEqual([expect.stringMatching(OURS)])
  })

  test('because it is not a photo is not fetched again', { tags: 'slow' }, async () => {
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')
    const wrong = {
      svg: at(image(svg, 'image/svg+xml')),
      hidden: at(image(svg, 'image/png')),
      gif: at(image(await plain(20, 20).gif().toBuffer(), 'image/gif')),
      huge: at(image(hugePng(30_000, 30_000))),
      cut: at(image((await fromPhone(900, 900)).subarray(0, 2_000), 'image/jpeg')),
      page: at((_request, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>')),
      long: at((_request, response) => void response.writeHead(200, { 'content-type': 'image/png', 'content-length': 10 * 1024 * 1024 + 1 }).end()),
    }
    const { id } = await pending(node, items.char!, { images: Object.values(wrong) })
    await copy()
    advance(20 * HOUR_MS)
    await copy()
    expect(await urls(id)).toEqual(Object.values(wrong))
    const problems = Object.fromEntries((await states()).map(({ url, problem }) => [url, problem]))
    for (const [name, url] of Object.entries(wrong)) {
      const isFinal = ['hidden', 'gif', 'huge', 'cut'].includes(name)
      expect([name, problems[url], askedFor(url)]).toEqual([name, isFinal ? 'unusable' : 'failed', isFinal ? 1 : 2])
    }
    expect(await photos()).toEqual([])
  })

  test('because its address is not allowed, directly or by a redirect, is never requested', async () => {
    const strict = await startTestNode({ worker: true, databaseUrl: node.databaseUrl, env: { PUBLIC_URL: 'https://cards.example' } })
    const inside = at(await jpeg())
    const addresses = [
      inside,
      'http://169.254.169.254/latest/meta-data',
      'http://[::1]/x.png',
      `${node.operatorUrl}/metrics`,
      'https://nobody.invalid/x.png',
      'http://0/x.png',
      'https://a\u202eb/x.png',
      'http://user:secret@127.0.0.1/x.png',
    ]
    const { id } = await pending(node, items.char!, { images: addresses })
    await strict.runTask('picture-copies')
    await strict.close()
    expect([askedFor(inside), await urls(id)]).toEqual([0, addresses])
    expect((await states()).map(({ problem }) => problem)).toEqual(Array(addresses.length).fill('failed'))
    await clear()
    const hop = at(redirect('http://169.254.169.254/latest/meta-data'))
    await pending(node, items.char!, { images: [hop] })
    await copy()
    expect((await states()).map(({ problem }) => problem)).toEqual(['failed'])
    expect(await photos()).toEqual([])
  })

  test('because the account has too many photos waits for room; addresses without end are not remembered', { tags: 'slow' }, async () => {
    const answer = async (n: number) =>
      image(
        await plain(20 + n, 20)
          .png()
          .toBuffer(),
      )
    const many = await Promise.all(Array.from({ length: 30 }, async (_, n) => at(await answer(n))))
    const listings = await Promise.all([many.slice(0, 15), many.slice(15)].map((images) => pending(node, items.char!, { images })))
    for (let run = 0; run < 4; run += 1) await Promise.all([copy(), copy(other)])
    expect((await photos()).length).toBe(MAX_PHOTOS)
    const asked = many.reduce((sum, url) => sum + askedFor(url), 0)
    // Those that are being fetched when the last photo is stored.
    expect(asked).toBeLessThan(MAX_PHOTOS + 4)
    const remembered = await states()
    expect(remembered.filter(({ problem }) => problem === 'full')).toHaveLength(remembered.length - MAX_PHOTOS)
    for (const { id } of listings) await plus(node, 'DELETE', `/listings/${id}`)
    await node.db.kysely
      .updateTable('photos')
      .set({ remove_after: new Date(0) })
      .execute()
    const { id } = await pending(node, items.char!, { images: [remembered.find(({ problem }) => problem === 'full')!.url] })
    await copy()
    expect(await urls(id)).not.toEqual([expect.stringMatching(OURS)])
    advance(DAY_MS)
    await copy()
    await copy()
    expect(await urls(id)).toEqual([expect.stringMatching(OURS)])
  })
})

test('a copy that no listing has used for long is removed, and copied again when it is linked again', { tags: 'slow' }, async () => {
  const url = at(await jpeg())
  const first = await pending(node, items.char!, { images: [url] })
  await copy()
  await plus(node, 'DELETE', `/listings/${first.id}`)
  for (const days of [2, 31, 1]) {
    advance(days * DAY_MS)
    await node.runTask('photo-retention')
  }
  expect(await photos()).toEqual([])
  const second = await pending(node, items.char!, { images: [url] })
  await copy()
  expect([await urls(second.id), askedFor(url)]).toEqual([[expect.stringMatching(OURS)], 2])
})

test('many failing pictures of a seller delay those of other sellers little', async () => {
  const slow = Array.from({ length: 20 }, () => at(status(503)))
  await pending(node, items.char!, { images: slow })
  const fast = at(await jpeg())
  const { id } = await pending(node, items.char!, { images: [fast], seller_id: node.accounts.enterprise })
  await copy()
  expect(await urls(id)).toEqual([expect.stringMatching(OURS)])
})
