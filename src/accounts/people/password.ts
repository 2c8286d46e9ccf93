// Passwords of people: which ones are allowed, and how they are stored and compared.
import { argon2, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { secretBytes } from '#core/process/secret-bytes.ts'
import { invalid, ServiceError } from '#core/errors.ts'
import { reason } from '#core/problems.ts'
import { Turns } from '#core/concurrency/turns.ts'
import { PASSWORD_LENGTH } from './people-types.ts'

const derive = promisify(argon2)
// The recommendation of OWASP for argon2id; about 50 ms of one core.
const MEMORY_KB = 19_456
const PASSES = 2
const LANES = 1
/** Passwords that may wait to be hashed, a few seconds' worth. */
const MAX_WAITING = 100
const SALT_BYTES = 16
const HASH_BYTES = 32
const STORED = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})\$([\w+/]{1,88})\$([\w+/]{1,88})$/
/** Minimum zxcvbn score (0 to 4): the highest withstands guessing with a stolen database. */
const SCORE = 4

/** The hash that is checked for unknown names, so that their response takes as long as that for existing ones. */
const NOBODY = `$argon2id$v=19$m=${MEMORY_KB},t=${PASSES},p=${LANES}$${'A'.repeat(22)}$${'A'.repeat(43)}`

/** In the PHC string format: algorithm, parameters, salt and hash. */
export async function hashPassword(password: string): Promise<string> {
  const salt = secretBytes(SALT_BYTES)
  const hash = await derived(password, salt, { memory: MEMORY_KB, passes: PASSES, lanes: LANES, bytes: HASH_BYTES })
  return `$argon2id$v=19$m=${MEMORY_KB},t=${PASSES},p=${LANES}$${text(salt)}$${text(hash)}`
}

/** @param stored null if the person has no password or does not exist: returns false after the same amount of work */
export async function isPassword(password: string, stored: string | null): Promise<boolean> {
  const [, memory, passes, lanes, salt, hash] = STORED.exec(stored ?? NOBODY)!
  const expected = Buffer.from(hash!, 'base64')
  const parameters = { memory: Number(memory), passes: Number(passes), lanes: Number(lanes), bytes: expected.length }
  const equal = timingSafeEqual(await derived(password, Buffer.from(salt!, 'base64'), parameters), expected)
  return equal && stored !== null
}

/** @throws VALIDATION_ERROR of the field `password` if it is too short, too long or easy to guess */
export async function checkPassword(password: string, name: string): Promise<void> {
  const { min, max } = PASSWORD_LENGTH
  const { length } = [...password]
  if (length < min || length > max) throw invalid('password', 'text', { min, max })
  if ((await strength())(password, [name, ...name.split(' '), 'mintmark']) < SCORE) throw invalid('password', 'password_common')
}

type Strength = (password: string, userInputs: string[]) => number

let loaded: Promise<Strength> | undefined

/** Loaded when needed: its word lists are large, and most processes never check a password. */
function strength(): Promise<Strength> {
  return (loaded ??= (async () => {
    const [{ ZxcvbnFactory }, { adjacencyGraphs, dictionary }] = await Promise.all([import('@zxcvbn-ts/core'), import('@zxcvbn-ts/language-common')])
    const factory = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs })
    return (password, userInputs) => factory.check(password, userInputs).score
  })())
}

interface Parameters {
  memory: number
  passes: number
  lanes: number
  bytes: number
}

const hashes = new Turns(1)

/**
 * One at a time, so that sign-ins from many addresses leave cores and threads to other requests.
 * @throws RATE_LIMITED if too many are waiting
 */
async function derived(password: string, nonce: Buffer, { memory, passes, lanes, bytes }: Parameters): Promise<Buffer> {
  if (hashes.taken >= MAX_WAITING) throw new ServiceError('RATE_LIMITED', reason('sign_in_busy'), { headers: { 'retry-after': '5' } })
  // Keyboards may encode the same character in different ways.
  const message = password.normalize('NFKC')
  return hashes.run(() => derive('argon2id', { message, nonce, memory, passes, parallelism: lanes, tagLength: bytes }))
}

function text(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '')
}
