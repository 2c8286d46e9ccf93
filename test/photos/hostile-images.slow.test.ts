// 200 hostile images posted four times: none leads to a 5xx, every refusal names its problem, nothing of an image's metadata is served, and
// memory does not grow with every round.
import sharp from 'sharp'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Photo } from '#photos/photo-types.ts'
import { operator } from '../market/kit.ts'
import { send, startTestNode, type TestNode } from '../support/node.ts'
import { fromPhone, hugePng, plain } from './pictures.ts'

const PER_KIND = 20
const MB = 1024 * 1024
/** A round uploads more than 200 MB: memory that images leave behind grows in every round, what the allocator keeps does not. */
const TOLERANCE_MB = 60

let node: TestNode

beforeAll(async () => {
  node = await startTestNode()
  await operator(node, 'PATCH', `/accounts/${node.accounts.plus}`, { listing_intake: { quota: 10 } })
})
afterAll(() => node.close())

interface Hostile {
  body: Buffer
  type: string
}

const FORMATS = ['jpeg', 'png', 'webp', 'avif'] as const
const REFUSED = ['photo_format']
const DAMAGED = ['photo_damaged', 'photo_format']

/** What each kind may lead to, besides what it is made of: the rules of its refusals, or `stored`. */
const KINDS: Record<string, { allowed: readonly string[]; make: (n: number) => Promise<Hostile> }> = {
  'a few kilobytes that expand to hundreds of megapixels': {
    allowed: ['photo_pixels'],
    make: async (n) => ({ body: hugePng(8_000 + n * 900, 8_000 + n * 900), type: 'image/png' }),
  },
  'more rows than the header states': {
    allowed: ['photo_damaged', 'stored'],
    make: async (n) => {
      const body = hugePng(2_000, 2_000)
      body.writeUInt32BE(1 + n, 20)
      return { body, type: 'image/png' }
    },
  },
  'very long or wide': {
    allowed: ['stored'],
    make: async (n) => ({ body: n % 2 ? hugePng(2, 500_000 + n) : hugePng(500_000 + n, 2), type: 'image/png' }),
  },
  'SVG, PDF, HTML and archives, called an image': {
    allowed: REFUSED,
    make: async (n) => {
      const starts = [
        '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
        '%PDF-1.7\n',
        '<!doctype html><script>',
        'PK\u0003\u0004',
        'GIF89a',
      ]
      return {
        body: Buffer.concat([Buffer.from(starts[n % starts.length]! + n), await plain(9, 9).jpeg().toBuffer()]),
        type: `image/${FORMATS[n % 4]!}`,
      }
    },
  },
  'a page or an archive behind an image': {
    allowed: ['stored'],
    make: async (n) => ({
      body: Buffer.concat([
        await plain(20 + n, 20)
          .jpeg()
          .toBuffer(),
        Buffer.from('PK\u0003\u0004<script>alert(1)</script>'),
      ]),
      type: 'image/jpeg',
    }),
  },
  'cut short': {
    allowed: DAMAGED,
    make: async (n) => {
      const whole = await fromPhone(300, 200 + n).then((photo) => sharp(photo)[FORMATS[n % 4]!]().toBuffer())
      return { body: whole.subarray(0, Math.floor((whole.length * (1 + (n % 9))) / 12)), type: `image/${FORMATS[n % 4]!}` }
    },
  },
  'the first bytes of another format': {
    allowed: DAMAGED,
    make: async (n) => {
      const [start, rest] = await Promise.all(
        [0, 1 + (n % 3)].map((by) =>
          plain(40 + n, 40)
            [FORMATS[(n + by) % 4]!]()
            .toBuffer(),
        ),
      )
      return { body: Buffer.concat([start!.subarray(0, 16), rest!.subarray(16)]), type: `image/${FORMATS[n % 4]!}` }
    },
  },
  animated: {
    allowed: ['stored', 'photo_format'],
    make: async (n) => {
      const frames = await Promise.all(
        ['#ff0000', '#00ff00', '#0000ff'].map((colour) =>
          plain(30 + n, 30, colour)
            .png()
            .toBuffer(),
        ),
      )
      const animation = sharp(frames, { join: { animated: true } })
      return n % 2 ? { body: await animation.gif().toBuffer(), type: 'image/gif' } : { body: await animation.webp().toBuffer(), type: 'image/webp' }
    },
  },
  'with the place where it was taken': { allowed: ['stored'], make: async (n) => ({ body: await fromPhone(400 + n, 300), type: 'image/jpeg' }) },
  'one byte too long': {
    allowed: ['body_size'],
    make: async (n) => ({
      body: Buffer.concat([
        await plain(30 + n, 30)
          .jpeg()
          .toBuffer(),
        Buffer.alloc(10 * MB),
      ]).subarray(0, 10 * MB + 1),
      type: 'image/jpeg',
    }),
  },
}

const upload = ({ body, type }: Hostile) =>
  send<Photo>(`${node.publicUrl}/api/v1/plus/images`, node.keys.plus, { method: 'POST', body, headers: { 'content-type': type } })

/** Posts every image. @returns results by kind that are not allowed */
async function postAll(): Promise<string[]> {
  const wrong: string[] = []
  for (const [kind, { allowed, make }] of Object.entries(KINDS)) {
    for (let n = 0; n < PER_KIND; n += 1) {
      const { status, body } = await upload(await make(n))
      const result = status === 201 ? 'stored' : (body.error?.details?.[0]?.rule ?? body.error?.rule)
      if (status >= 500 || !allowed.includes(String(result))) wrong.push(`${kind} ${n}: ${status} ${String(result)}`)
      if (status === 201 && n < 3) {
        const { exif, xmp, icc, pages, format } = await sharp(await (await fetch(body.data.url)).arrayBuffer()).metadata()
        if (exif || xmp || icc || pages !== undefined || format !== 'webp') wrong.push(`${kind} ${n}: served with more than its pixels`)
      }
    }
  }
  await node.db.kysely.deleteFrom('photos').execute()
  return wrong
}

test('200 hostile images, four times', async () => {
  expect(Object.keys(KINDS).length * PER_KIND).toBe(200)
  const residentMb: number[] = []
  for (let round = 0; round < 4; round += 1) {
    expect(await postAll()).toEqual([])
    residentMb.push(process.memoryUsage().rss / MB)
  }
  const growth = residentMb.slice(1).map((after, round) => after - residentMb[round]!)
  expect(Math.min(...growth)).toBeLessThan(TOLERANCE_MB)
})
