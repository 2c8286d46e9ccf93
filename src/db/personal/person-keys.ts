// A key per person: fields of people in archived months and in backups are sealed with it, and nobody can read them once an erasure has deleted it.
import { createCipheriv, createDecipheriv, createHash } from 'node:crypto'
import { sql } from 'kysely'
import { secretBytes } from '#core/process/secret-bytes.ts'
import type { Queryable, Tx } from '../schema.ts'
import type { PersonRef } from './rows-of-person.ts'

interface PersonKey {
  id: number
  key: Buffer
}

/** What is shown in place of a text whose key was deleted. */
export const ERASED_TEXT = '[erased]'

const NONCE_BYTES = 12
const TAG_BYTES = 16
const SEALED = /^sealed:(\d{1,10}):([A-Za-z0-9_-]+)$/
/** Persons whose keys are kept in memory. */
const MAX_CACHED = 50_000

function nameOf(person: PersonRef): string {
  return person.kind === 'account' ? `account:${person.id}` : `buyer:${person.reference}`
}

function referenceHash(reference: string): Buffer {
  return createHash('sha256').update(reference).digest()
}

/** Deletes the key of a person: nobody can read their texts in archives and backups any more. */
export async function deletePersonKey(tx: Tx, person: PersonRef): Promise<void> {
  const keys = tx.deleteFrom('person_keys')
  const theirs =
    person.kind === 'account' ? keys.where('account_id', '=', person.id) : keys.where('reference_hash', '=', referenceHash(person.reference))
  await theirs.execute()
}

/** Seals and opens texts; reads each key once. */
export class PersonKeys {
  readonly #on: Queryable
  readonly #byPerson = new Map<string, PersonKey>()
  readonly #byId = new Map<number, Buffer | null>()

  /** @param on a connection that may write: keys are created when they are first needed */
  constructor(on: Queryable) {
    this.#on = on
  }

  /** Reads the keys of these people, and creates those that do not exist; `seal` needs it. */
  async prepare(people: readonly PersonRef[]): Promise<void> {
    if (this.#byPerson.size > MAX_CACHED) this.#byPerson.clear()
    const missing = new Map(people.filter((person) => !this.#byPerson.has(nameOf(person))).map((person) => [nameOf(person), person]))
    if (missing.size === 0) return
    const accounts = [...missing.values()].flatMap((person) => (person.kind === 'account' ? [person.id] : []))
    const references = [...missing.values()].flatMap((person) => (person.kind === 'buyer' ? [person.reference] : []))
    const hashes = references.map(referenceHash)
    const wanted = [
      ...accounts.map((id) => ({ kind: 'account' as const, account_id: id, reference_hash: null, key: secretBytes(32) })),
      ...hashes.map((hash) => ({ kind: 'buyer' as const, account_id: null, reference_hash: hash, key: secretBytes(32) })),
    ]
    await this.#on
      .insertInto('person_keys')
      .values(wanted)
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    const { rows } = await sql<PersonKey & { account_id: number | null; reference_hash: Buffer | null }>`
      select id, key, account_id, reference_hash from person_keys
      where account_id = any(${accounts}::int4[]) or reference_hash = any(${hashes}::bytea[])`.execute(this.#on)
    const byHash = new Map(references.map((reference, i) => [hashes[i]!.toString('hex'), reference]))
    for (const { id, key, account_id: accountId, reference_hash: hash } of rows) {
      const person: PersonRef =
        accountId === null ? { kind: 'buyer', reference: byHash.get(hash!.toString('hex'))! } : { kind: 'account', id: accountId }
      this.#byPerson.set(nameOf(person), { id, key })
    }
  }

  /** @throws Error if `prepare` was not called for this person */
  seal(text: string, person: PersonRef): string {
    const found = this.#byPerson.get(nameOf(person))
    if (!found) throw new Error('The key of a person was not prepared')
    return sealWith(text, found)
  }

  /** Reads the keys of sealed texts; `open` needs it. */
  async prepareSealed(texts: readonly string[]): Promise<void> {
    if (this.#byId.size > MAX_CACHED) this.#byId.clear()
    const ids = [...new Set(texts.map((text) => Number(SEALED.exec(text)?.[1] ?? 0)))].filter((id) => id > 0 && !this.#byId.has(id))
    if (ids.length === 0) return
    const rows = await this.#on.selectFrom('person_keys').select(['id', 'key']).where('id', '=', sql<number>`any(${ids}::int8[])`).execute()
    const found = new Map(rows.map(({ id, key }) => [id, key]))
    for (const id of ids) this.#byId.set(id, found.get(id) ?? null)
  }

  /** The text; `ERASED_TEXT` if its key was deleted; the same text if it is not sealed. */
  open(text: string): string {
    return openWith(text, (id) => this.#byId.get(id) ?? null) ?? ERASED_TEXT
  }
}

export function sealWith(text: string, { id, key }: PersonKey): string {
  const nonce = secretBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return `sealed:${id}:${Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url')}`
}

/** @returns the text, also if it is not sealed; null if there is no key for it */
export function openWith(text: string, keyOf: (id: number) => Buffer | null): string | null {
  const [, id, content] = SEALED.exec(text) ?? []
  if (id === undefined || content === undefined) return text
  const key = keyOf(Number(id))
  if (key === null) return null
  const bytes = Buffer.from(content, 'base64url')
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES))
    decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
    const start = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES))
    return Buffer.concat([start, decipher.final()]).toString('utf8')
  } catch {
    // Somebody's own text that looks like a sealed one.
    return text
  }
}

/** A key as its file contains it. */
export interface StoredKey extends PersonKey {
  kind: 'account' | 'buyer'
  account_id: number | null
  /** SHA-256 of a buyer's reference */
  reference_hash: Buffer | null
}

/** Lines of the file of keys: without it, a backup has no texts of people. */
export async function* keyLines(on: Queryable): AsyncGenerator<string> {
  const AT_ONCE = 10_000
  for (let last = 0; ; ) {
    const keys = on.selectFrom('person_keys').select(['id', 'kind', 'account_id', 'reference_hash', 'key']).where('id', '>', last)
    const rows = await keys.orderBy('id').limit(AT_ONCE).execute()
    yield rows
      .map(
        (row) => `${JSON.stringify({ ...row, key: row.key.toString('base64'), reference_hash: row.reference_hash?.toString('base64') ?? null })}\n`,
      )
      .join('')
    if (rows.length < AT_ONCE) return
    last = rows.at(-1)!.id
  }
}

/** @throws SyntaxError if a line is not one of a file of keys */
export function readKeyLine(line: string): StoredKey {
  const row = JSON.parse(line) as Omit<StoredKey, 'key' | 'reference_hash'> & { key: string; reference_hash: string | null }
  const hash = row.reference_hash === null ? null : Buffer.from(row.reference_hash, 'base64')
  return { ...row, key: Buffer.from(row.key, 'base64'), reference_hash: hash }
}

/** Stores the keys of a restored backup. */
export async function restoreKeys(tx: Tx, keys: readonly StoredKey[]): Promise<void> {
  const AT_ONCE = 5_000
  for (let at = 0; at < keys.length; at += AT_ONCE) {
    const some = keys.slice(at, at + AT_ONCE)
    await sql`
      insert into person_keys (id, kind, account_id, reference_hash, key) overriding system value
      select * from unnest(${some.map(({ id }) => id)}::int4[], ${some.map(({ kind }) => kind)}::text[], ${some.map((one) => one.account_id)}::int4[],
        ${some.map((one) => one.reference_hash)}::bytea[], ${some.map(({ key }) => key)}::bytea[])`.execute(tx)
  }
  await sql`
    select setval(pg_get_serial_sequence('person_keys', 'id'), greatest((select last_value from person_keys_id_seq), ${keys.reduce((last, { id }) => Math.max(last, id), 1)}::int8))`.execute(
    tx,
  )
}
