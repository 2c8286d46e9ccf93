// Turns an upload into the stored sizes of a photo: decoded within limits, turned upright, without metadata, as WebP.
import type { ResizeOptions, Sharp, SharpOptions } from 'sharp'
import { invalid, ServiceError } from '#core/errors.ts'
import { problem, reason } from '#core/problems.ts'
import { Turns } from '#core/concurrency/turns.ts'

/** Widths of the stored sizes, smallest first; a photo is never enlarged. */
const WIDTHS = [320, 800, 1600]
/** Longest side of a size, as a multiple of its width: WebP images are limited to 16,383 pixels. */
const MAX_RATIO = 4
const MAX_MEGAPIXELS = 40
/** Progressive JPEG and AVIF are decoded in memory, at about 6 bytes a pixel, so that one photo is decoded at a time. */
const AT_ONCE = 1
/** Photos that are decoded or wait for it, each with its upload in memory: about ten seconds' worth. */
const MAX_TAKEN = 16
const DECODE_SECONDS = 10
const QUALITY = 80

/** The accepted formats of an upload. */
export const FORMATS = ['JPEG', 'PNG', 'WebP', 'AVIF'] as const
type Format = (typeof FORMATS)[number]

export interface EncodedSize {
  /** in pixels */
  width: number
  height: number
  bytes: Buffer
}

const decodes = new Turns(AT_ONCE)

/**
 * Encodes an upload, smallest size first. Two sizes never have the same width.
 * @throws VALIDATION_ERROR of the field `file` if it is not an intact image of an allowed format and size; RATE_LIMITED if too many wait
 */
export async function encodePhoto(upload: Buffer): Promise<EncodedSize[]> {
  if (formatOf(upload) === null) throw invalid('file', 'photo_format', { values: FORMATS })
  if (decodes.taken >= MAX_TAKEN) throw new ServiceError('RATE_LIMITED', reason('photos_busy'), { headers: { 'retry-after': '5' } })
  return decodes.run(async () => {
    const open = await library()
    const { data, info } = await decoded(open, upload)
    const source = { raw: { width: info.width, height: info.height, channels: info.channels } }
    const sizes: EncodedSize[] = []
    for (const width of WIDTHS) {
      const image = open(data, source).resize(within(width))
      const { data: bytes, info: size } = await image.webp({ quality: QUALITY }).toBuffer({ resolveWithObject: true })
      if (size.width > (sizes.at(-1)?.width ?? 0)) sizes.push({ width: size.width, height: size.height, bytes })
    }
    return sizes
  })
}

function within(width: number): ResizeOptions {
  return { width, height: width * MAX_RATIO, fit: 'inside', withoutEnlargement: true }
}

/** The format by the first bytes, whatever the request calls it; null for all others. */
function formatOf(upload: Buffer): Format | null {
  if (upload.length >= 3 && upload.readUIntBE(0, 3) === 0xffd8ff) return 'JPEG'
  if (upload.subarray(0, 8).equals(PNG_SIGNATURE)) return 'PNG'
  const text = upload.toString('latin1', 0, 64)
  if (text.startsWith('RIFF') && text.startsWith('WEBP', 8)) return 'WebP'
  if (text.startsWith('ftyp', 4) && brandsOf(upload, text).includes('avif')) return 'AVIF'
  return null
}

const PNG_SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex')

/** The major and the compatible brands of an ISO media file, whose first box they are. */
function brandsOf(upload: Buffer, text: string): string[] {
  const end = Math.min(text.length, upload.readUInt32BE(0))
  const brands: string[] = []
  for (let at = 8; at + 4 <= end; at += 4) if (at !== 12) brands.push(text.slice(at, at + 4))
  return brands
}

/** The photo upright in sRGB, as pixels of its largest size. */
async function decoded(open: Open, upload: Buffer) {
  const limits = { failOn: 'error', limitInputPixels: MAX_MEGAPIXELS * 1_000_000, sequentialRead: true } as const
  try {
    const { width, height } = await open(upload, { ...limits, limitInputPixels: false }).metadata()
    if (width * height > limits.limitInputPixels) throw invalid('file', 'photo_pixels', { max: MAX_MEGAPIXELS })
    const image = open(upload, limits)
      .autoOrient()
      .resize(within(WIDTHS.at(-1)!))
    return await image.toColourspace('srgb').timeout({ seconds: DECODE_SECONDS }).raw().toBuffer({ resolveWithObject: true })
  } catch (error) {
    if (error instanceof ServiceError) throw error
    throw new ServiceError('VALIDATION_ERROR', [problem('file', 'photo_damaged')], { cause: error })
  }
}

type Open = (input: Buffer, options: SharpOptions) => Sharp

let loaded: Promise<Open> | undefined

/** Loaded when needed, because most processes never encode a photo. Everything but the allowed formats is switched off. */
function library(): Promise<Open> {
  return (loaded ??= import('sharp').then(({ default: sharp }) => {
    sharp.cache(false)
    sharp.concurrency(1)
    sharp.block({ operation: ['VipsForeignLoad'] })
    sharp.unblock({ operation: FORMATS.map((format) => `VipsForeignLoad${LOADERS[format]}Buffer`) })
    return sharp
  }))
}

const LOADERS: Record<Format, string> = { JPEG: 'Jpeg', PNG: 'Png', WebP: 'Webp', AVIF: 'Heif' }
