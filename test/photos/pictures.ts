// Images for the tests of photos: intact ones, and those that must be refused.
import { deflateSync } from 'node:zlib'
import sharp from 'sharp'

/** A photo as a phone takes it: lying on its side, with the place where it was taken. */
export function fromPhone(width: number, height: number, background = '#884422'): Promise<Buffer> {
  const exif = { IFD0: { Make: 'Phone' }, IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '41/1 0/1 30/1' } }
  return plain(width, height, background).withExif(exif).withMetadata({ orientation: 6 }).withIccProfile('p3').jpeg().toBuffer()
}

/** An image of one colour. */
export function plain(width: number, height: number, background = '#226688') {
  return sharp({ create: { width, height, channels: 3, background } })
}

/** A PNG of this size in black, one bit a pixel: a few kilobytes. */
export function hugePng(width: number, height: number): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header[8] = 1
  const rows = deflateSync(Buffer.alloc((1 + Math.ceil(width / 8)) * height), { level: 9 })
  return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), chunk('IHDR', header), chunk('IDAT', rows), chunk('IEND', Buffer.alloc(0))])
}

function chunk(type: string, data: Buffer): Buffer {
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  sum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, sum])
}

function crc32(bytes: Buffer): number {
  let crc = ~0
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return ~crc >>> 0
}

/** Damaged images, the same for a seed: flipped bytes, cut ends and repeated parts. */
export function* damaged(images: readonly Buffer[], count: number, seed: number): Generator<Buffer> {
  let state = seed
  const random = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  for (let n = 0; n < count; n += 1) {
    const bytes = Buffer.from(images[n % images.length]!)
    // Mostly near the start, where headers are.
    for (let flips = 1 + random(20); flips > 0; flips -= 1) bytes[random(random(2) ? 64 : bytes.length)] = random(256)
    const end = random(4) ? bytes.length : random(bytes.length)
    const again = random(5) ? 0 : random(end)
    yield Buffer.concat([bytes.subarray(0, end), bytes.subarray(again, again * 2)])
  }
}
