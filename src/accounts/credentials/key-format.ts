// Format of keys: generation, offline validation and hashing. Secret scanners find keys by prefix and checksum.
import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { secretNumber } from '#core/process/secret-bytes.ts'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
// 43 characters of base 62 are 256 bits; 6 hold the 32 bits of the checksum.
const RANDOM_LENGTH = 43
const CHECKSUM_LENGTH = 6

const PREFIXES = { api: 'mintmark_', test: 'mintmark_test_', operator: 'mintop_', session: 'mintses_', link: 'mintlink_' } as const

export type KeyKind = keyof typeof PREFIXES

const SHAPES: Record<KeyKind, RegExp> = {
  api: shapeOf('api'),
  test: shapeOf('test'),
  operator: shapeOf('operator'),
  session: shapeOf('session'),
  link: shapeOf('link'),
}

/** A new random key: prefix, 43 base 62 characters of randomness, 6 of checksum over all before it. */
export function newKey(kind: KeyKind): string {
  let text: string = PREFIXES[kind]
  for (let i = 0; i < RANDOM_LENGTH; i++) text += ALPHABET[secretNumber(ALPHABET.length)]
  return text + checksumOf(text)
}

/** Whether the text can be a key of this kind: prefix, length, alphabet and checksum. */
export function isWellFormed(text: string, kind: KeyKind): boolean {
  return SHAPES[kind].test(text) && checksumOf(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH)
}

/** Whether the value of an Authorization header holds the key of a sandbox. */
export function holdsTestKey(header: string | undefined): boolean {
  return header?.includes(PREFIXES.test) === true
}

/** The stored form of a key. A plain hash is enough for 256 random bits. */
export function hashKey(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}

/** The last four characters of a key, shown so that it can be recognised. */
export function last4(key: string): string {
  return key.slice(-4)
}

function shapeOf(kind: KeyKind): RegExp {
  return new RegExp(`^${PREFIXES[kind]}[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`)
}

function checksumOf(text: string): string {
  let rest = crc32(text)
  let digits = ''
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = ALPHABET[rest % ALPHABET.length] + digits
    rest = Math.floor(rest / ALPHABET.length)
  }
  return digits
}
