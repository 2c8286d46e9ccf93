// From the Authorization header to who calls, out of memory: the database is asked once per key, changes are followed.
import { timingSafeEqual } from 'node:crypto'
import { sql } from 'kysely'
import type { Log } from '#core/context.ts'
import { unauthenticated } from '#core/errors.ts'
import type { Viewer } from '#core/verb.ts'
import type { ChangeFollower, ChangeRow } from '#db/change-feed.ts'
import type { ChangeKind, Db } from '#db/schema.ts'
import { inTransaction } from '#db/transaction.ts'
import { hashKey, isWellFormed, type KeyKind } from './key-format.ts'
import { BOOTSTRAP, type Holder, loadApiKey, loadConsoleSession, loadOperatorToken } from './store.ts'

const CAPACITY = 50_000
const FLUSH_MS = 30_000
const BEARER = /^Bearer +(.+)$/i

/** What differs between API keys, operator tokens and the console's sessions. */
interface KeySource {
  kind: KeyKind
  noun: string
  table: 'api_keys' | 'operator_tokens' | 'console_sessions'
  changes: ChangeKind
  load: (db: Db, hash: Buffer) => Promise<Holder | null>
}

export interface KeyringOptions {
  db: Db
  log: Log
  now: () => Date
}

/** The keys of API consumers. */
export function apiKeyring(options: KeyringOptions): Keyring {
  const source: KeySource = { kind: 'api', noun: 'API key', table: 'api_keys', changes: 'accounts', load: loadApiKey }
  return new Keyring(source, options, null)
}

/** The operators' tokens; `bootstrap` is one more that is set, not stored, and belongs to the operator `bootstrap`. */
export function operatorTokens(options: KeyringOptions, bootstrap: string | null): Keyring {
  const source: KeySource = {
    kind: 'operator',
    noun: 'operator token',
    table: 'operator_tokens',
    changes: 'operators',
    load: loadOperatorToken,
  }
  return new Keyring(source, options, bootstrap)
}

/** Sessions of the console; they end with the token they were opened with, `bootstrap` among them. */
export function consoleSessions(options: KeyringOptions, bootstrap: string | null): Keyring {
  const bootstrapHash = bootstrap === null ? null : hashKey(bootstrap)
  const source: KeySource = {
    kind: 'session',
    noun: 'console session',
    table: 'console_sessions',
    changes: 'operators',
    load: (db, hash) => loadConsoleSession(db, hash, bootstrapHash),
  }
  return new Keyring(source, options, null)
}

/** Keys that were used lately with their holders. Add it to the change feed before the first call. */
export class Keyring implements ChangeFollower {
  readonly #source: KeySource
  readonly #db: Db
  readonly #log: Log
  readonly #now: () => Date
  readonly #bootstrapHash: Buffer | null
  // Two generations bound the memory: when the young one is full, the old one goes and the young one ages.
  #young = new Map<string, Holder>()
  #old = new Map<string, Holder>()
  readonly #loading = new Map<string, Promise<Holder>>()
  /** key id → epoch milliseconds of its last use that is not stored yet */
  #used = new Map<number, number>()
  #timer: NodeJS.Timeout | null = null

  constructor(source: KeySource, { db, log, now }: KeyringOptions, bootstrap: string | null) {
    this.#source = source
    this.#db = db
    this.#log = log
    this.#now = now
    this.#bootstrapHash = bootstrap === null ? null : hashKey(bootstrap)
  }

  /** Begins to store the times of last use, every 30 s. */
  start(): void {
    this.#timer = setInterval(() => void this.flush(), FLUSH_MS)
    this.#timer.unref()
  }

  async close(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer)
    await this.flush()
  }

  /**
   * Who calls, by the value of the Authorization header: at once for keys used lately, a promise for the others.
   * @throws UNAUTHENTICATED (or rejects with it), the database's error when it must be asked and cannot
   */
  find(header: string | undefined): Viewer | Promise<Viewer> {
    const { noun } = this.#source
    if (header === undefined) throw unauthenticated(`The header is missing: send Authorization: Bearer <${noun}>`)
    const key = BEARER.exec(header)?.[1]
    if (key === undefined) throw unauthenticated(`The Authorization header must be: Bearer <${noun}>`)
    return this.findKey(key)
  }

  /** Who calls, by the bare key; otherwise as `find`. */
  findKey(key: string): Viewer | Promise<Viewer> {
    const { noun, kind } = this.#source
    const known = this.#young.get(key) ?? this.#promoted(key)
    if (known) return this.#admit(known)
    if (this.#bootstrapHash && timingSafeEqual(this.#bootstrapHash, hashKey(key))) return BOOTSTRAP
    if (!isWellFormed(key, kind)) throw unauthenticated(`This is no ${noun}: its prefix, length or checksum is wrong`)
    return this.#load(key).then((holder) => this.#admit(holder))
  }

  async apply(changes: ChangeRow[]): Promise<void> {
    const owners = new Set(changes.filter((row) => row.kind === this.#source.changes).flatMap((row) => row.ids ?? []))
    if (owners.size === 0) return
    // What is being read now may be older than the change: nobody may share it, and it is not kept.
    this.#loading.clear()
    for (const generation of [this.#young, this.#old]) {
      for (const [key, holder] of generation) if (owners.has(holder.ownerId)) generation.delete(key)
    }
  }

  async reload(): Promise<void> {
    this.#loading.clear()
    this.#young.clear()
    this.#old.clear()
  }

  /** Stores the times of last use. On failure they are kept for the next time, with a warning in the log. */
  async flush(): Promise<void> {
    if (this.#used.size === 0) return
    const used = this.#used
    this.#used = new Map()
    try {
      await inTransaction(this.#db, (tx) =>
        sql`
          update ${sql.table(this.#source.table)} as k set last_used_at = greatest(k.last_used_at, u.at)
          from unnest(${[...used.keys()]}::int[], ${[...used.values()].map((ms) => new Date(ms))}::timestamptz[]) as u (id, at)
          where k.id = u.id`.execute(tx),
      )
    } catch (error) {
      for (const [id, ms] of used) if (!this.#used.has(id)) this.#used.set(id, ms)
      this.#log.warn({ err: error }, 'The times at which keys were last used cannot be stored at the moment')
    }
  }

  #admit(holder: Holder): Viewer {
    const now = this.#now().getTime()
    if (holder.refusal) throw unauthenticated(holder.refusal)
    if (holder.expiresAtMs <= now) throw unauthenticated(`The ${this.#source.noun} has expired`)
    this.#used.set(holder.keyId, now)
    return holder.viewer
  }

  #promoted(key: string): Holder | undefined {
    const holder = this.#old.get(key)
    if (holder) this.#keep(key, holder)
    return holder
  }

  #keep(key: string, holder: Holder): void {
    if (this.#young.size >= CAPACITY / 2) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(key, holder)
  }

  /** Calls with one key at the same time share one query. */
  #load(key: string): Promise<Holder> {
    const running = this.#loading.get(key)
    if (running) return running
    const loading = this.#source
      .load(this.#db, hashKey(key))
      .then((holder) => {
        if (!holder) throw unauthenticated(`The ${this.#source.noun} is not known`)
        if (this.#loading.get(key) === loading) this.#keep(key, holder)
        return holder
      })
      .finally(() => {
        if (this.#loading.get(key) === loading) this.#loading.delete(key)
      })
    this.#loading.set(key, loading)
    return loading
  }
}
