// The queue for decoding photos: of many uploads at once, those beyond its length are refused, and the others are encoded.
import { expect, test } from 'vitest'
import type { ServiceError } from '#core/errors.ts'
import { encodePhoto } from '#photos/encode-photo.ts'
import { plain } from './pictures.ts'

test('uploads beyond the length of the queue are refused and told to come back', async () => {
  const image = await plain(200, 300).jpeg().toBuffer()
  const results = await Promise.allSettled(Array.from({ length: 20 }, () => encodePhoto(image)))
  const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as ServiceError] : []))
  expect(refused.map(({ code, headers }) => [code, headers])).toEqual(Array(4).fill(['RATE_LIMITED', { 'retry-after': '5' }]))
  expect((await encodePhoto(image)).map(({ width, height }) => [width, height])).toEqual([[200, 300]])
})
