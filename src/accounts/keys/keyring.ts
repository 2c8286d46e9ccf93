// Authenticates the Authorization header from memory: one database query per key, updated by the change feed; addresses with too many
// failures get few look-ups.
import { timingSafeEqual } from 'node:crypto'
import { sql } from 'kysely'
import { DAY_MS, MINUTE_MS } from '#core/duration.ts'
import type { Log } from '#core/context.ts'
import { ServiceError, unauthenticated } from '#core/errors.ts'
import { Cache } from '#core/cache.ts'
import { type Reason, reason } from '#core/problems.ts'
import type { Viewer } from '#core/verb.ts'
import type { ChangeFollower, ChangeRow } from '#db/changes/change-feed.ts'
import type { ChangeKind, Db } from '#db/schema.ts'
import { inTransaction } from '#db/connection/transaction.ts'
import { type Caller, FailedAuthentications } from '../limits/failed-authentications.ts'
import { FailureAudit } from '../limits/failure-audit.ts'
import { hashKey, isWellFormed, type KeyKind } from '../credentials/key-format.ts'
import { mayCallFrom } from '../credentials/key-scope.ts'
import { BOOTSTRAP, type KeyHolder, loadApiKey, loadConsoleSession, loadOperatorToken, loadSellerSession, loadTestKey } from '../key-holders.ts'
import { KeyUsage } from './usage.ts'

const CAPACITY = 50_000
/** Hashes of unknown keys. */
const UNKNOWN_CAPACITY = 10_000
const BEARER = /^Bearer +([^ ].*)$/i

type OwnTable = 'api_keys' | 'operator_tokens' | 'console_sessions' | 'seller_sessions'
/** Tables that store last uses; people's tokens and sessions have their own. */
type UsedTable = OwnTable | NonNullable<KeyHolder['table']>

/** The differences between API keys, operator tokens and the sessions of pages. */
interface KeySource {
  kind: KeyKind
  credential: string
  table: OwnTable
  /** a use is stored at most once in this time */
  usesEveryMs: number
  changes: ChangeKind
  /** failures allowed per address and minute */
  failuresAMinute: number
  load: (db: Db, hash: Buffer) => Promise<KeyHolder | null>
}

export interface KeyringOptions {
  db: Db
  log: Log
  now: () => Date
}

/** The keys of API consumers. @param test whether they are those of a sandbox */
export function apiKeyring(options: KeyringOptions, test = false): Keyring {
  const source: KeySource = {
    kind: test ? 'test' : 'api',
    credential: 'API key',
    table: 'api_keys',
    usesEveryMs: DAY_MS,
    changes: 'accounts',
    failuresAMinute: 30,
    load: test ? loadTestKey : loadApiKey,
  }
  return new Keyring(source, options, null, null, new KeyUsage(options))
}

/** The operators' tokens: those of people, shared ones, and the bootstrap token from the settings, of the operator `bootstrap`. */
export function operatorTokens(options: KeyringOptions, bootstrap: string | null): Keyring {
  const source: KeySource = {
    kind: 'operator',
    credential: 'operator token',
    table: 'operator_tokens',
    usesEveryMs: DAY_MS,
    changes: 'operators',
    failuresAMinute: 10,
    load: loadOperatorToken,
  }
  return new Keyring(source, options, bootstrap, new FailureAudit(options))
}

/** Sessions of the console; they end with their token (`bootstrap` included) or with their person. */
export function consoleSessions(options: KeyringOptions, bootstrap: string | null): Keyring {
  const bootstrapHash = bootstrap === null ? null : hashKey(bootstrap)
  const source: KeySource = {
    kind: 'session',
    credential: 'console session',
    table: 'console_sessions',
    usesEveryMs: DAY_MS,
    changes: 'operators',
    failuresAMinute: 30,
    load: (db, hash) => loadConsoleSession(db, hash, bootstrapHash),
  }
  return new Keyring(source, options, null)
}

/** Sessions of the seller's desk; they end with their API key, and after a time without use. */
export function sellerSessions(options: KeyringOptions): Keyring {
  const source: KeySource = {
    kind: 'session',
    credential: 'session',
    table: 'seller_sessions',
    usesEveryMs: MINUTE_MS,
    changes: 'accounts',
    failuresAMinute: 30,
    load: loadSellerSession,
  }
  return new Keyring(source, options, null)
}

/** Recently used keys with their holders. Add it to the change feed before the first call. */
export class Keyring implements ChangeFollower {
  readonly #source: KeySource
  readonly #db: Db
  readonly #now: () => Date
  readonly #bootstrapHash: Buffer | null
  readonly #holders = new Cache<string, KeyHolder>({ limit: CAPACITY })
  readonly #loading = new Map<string, Promise<KeyHolder | null>>()
  readonly #unknown = new Cache<string, true>({ limit: UNKNOWN_CAPACITY })
  /** keys that were valid until their account changed: they are read again, also for blocked addresses, without a limit */
  readonly #changed = new Cache<string, true>({ limit: CAPACITY })
  readonly #audit: FailureAudit | null
  readonly failures: FailedAuthentications
  /** usage of keys; null if it is not counted */
  readonly usage: KeyUsage | null
  /** by table: key id → epoch milliseconds of a use that is not stored yet */
  #uses = new Map<UsedTable, Map<number, number>>()

  /** @param audit where failures are recorded in addition to log and metrics; null for nowhere */
  constructor(
    source: KeySource,
    { db, log, now }: KeyringOptions,
    bootstrap: string | null,
    audit: FailureAudit | null = null,
    usage: KeyUsage | null = null,
  ) {
    this.#source = source
    this.usage = usage
    this.#db = db
    this.#now = now
    this.#bootstrapHash = bootstrap === null ? null : hashKey(bootstrap)
    this.#audit = audit
    const record = audit ? (address: string) => audit.add(address) : undefined
    this.failures = new FailedAuthentications({ credential: source.credential, limit: source.failuresAMinute, log, now, record })
  }

  async close(): Promise<void> {
    await Promise.all([this.flush(), this.#audit?.close()])
  }

  /**
   * The caller, by the value of the Authorization header, if the key is valid, cached, not restricted to origins or addresses, and not suspended;
   * null: call `find`.
   */
  cached(header: string | undefined): Viewer | null {
    const key = header === undefined ? undefined : BEARER.exec(header)?.[1]
    const holder = key === undefined ? undefined : this.#holders.get(key)
    return holder && holder.limits === null && !holder.suspended && this.#refusalOf(holder) === null ? this.#used(holder) : null
  }

  /**
   * The caller, by the value of the Authorization header: synchronously for cached keys, otherwise a promise.
   * @throws UNAUTHENTICATED, RATE_LIMITED, ORIGIN_NOT_ALLOWED, ADDRESS_NOT_ALLOWED, ACCOUNT_SUSPENDED (or rejects with them); the
   * database's error if a query fails
   */
  find(header: string | undefined, caller: Caller): Viewer | Promise<Viewer> {
    const { credential } = this.#source
    // A request without a credential is not a guess, so it is not counted.
    if (header === undefined) throw unauthenticated(reason('authorization', { credential, state: 'missing' }))
    const key = BEARER.exec(header)?.[1]
    if (key === undefined) throw this.failures.refuse(caller, reason('authorization', { credential, state: 'malformed' }))
    return this.findKey(key, caller)
  }

  /** The caller, by the key itself; otherwise like `find`. */
  findKey(key: string, caller: Caller): Viewer | Promise<Viewer> {
    const { credential, kind } = this.#source
    const holder = this.#holders.get(key)
    // A session that was idle here may have been used on another node.
    if (holder && !this.#isIdle(holder)) return this.#admit(holder, caller)
    const wellFormed = isWellFormed(key, kind)
    // Also before the bootstrap token: it was chosen by a person, so it may be guessable.
    if (!wellFormed) this.failures.check(caller)
    const hash = hashKey(key)
    if (this.#bootstrapHash && timingSafeEqual(this.#bootstrapHash, hash)) return BOOTSTRAP
    if (!wellFormed) throw this.failures.refuse(caller, reason('credential', { credential, state: 'malformed' }))
    if (this.#unknown.get(nameOf(hash))) return Promise.reject(this.#unknownKey(caller))
    const uncounted = this.#changed.get(key) ?? this.#loading.has(key)
    const found = uncounted ? () => {} : this.failures.admitLookup(caller)
    return this.#load(key, hash).then((holder) => {
      if (!holder) throw this.#unknownKey(caller)
      const viewer = this.#admit(holder, caller)
      found()
      return viewer
    })
  }

  async apply(changes: ChangeRow[]): Promise<void> {
    const owners = new Set(changes.filter((row) => row.kind === this.#source.changes).flatMap((row) => row.ids ?? []))
    if (owners.size === 0) return
    // A read in progress may be older than the change: it is neither shared nor cached.
    this.#loading.clear()
    this.#unknown.clear()
    for (const [key, holder] of this.#holders.entries()) if (owners.has(holder.ownerId)) this.#forget(key, holder)
  }

  async reload(): Promise<void> {
    this.#loading.clear()
    this.#unknown.clear()
    for (const [key, holder] of this.#holders.entries()) this.#forget(key, holder)
  }

  #forget(key: string, holder: KeyHolder): void {
    this.#holders.delete(key)
    if (this.#refusalOf(holder) === null) this.#changed.set(key, true)
  }

  /** Stores last uses and usage counts; rejects with the database's error, and keeps them for the next time. */
  async flush(): Promise<void> {
    await Promise.all([this.#flushUses(), this.usage?.flush()])
  }

  async #flushUses(): Promise<void> {
    const byTable = this.#uses
    this.#uses = new Map()
    await Promise.all([...byTable].map(([table, used]) => this.#storeUses(table, used)))
  }

  async #storeUses(table: UsedTable, used: Map<number, number>): Promise<void> {
    const step = `${this.#source.usesEveryMs} milliseconds`
    try {
      await inTransaction(this.#db, (tx) =>
        sql`
          update ${sql.table(table)} as k set last_used_at = u.at
          from unnest(${[...used.keys()]}::int[], ${[...used.values()].map((ms) => new Date(ms))}::timestamptz[]) as u (id, at)
          where k.id = u.id and (k.last_used_at is null or k.last_used_at < date_bin(${step}::interval, u.at, '2000-01-01 00:00+00'))`.execute(tx),
      )
    } catch (error) {
      for (const [id, ms] of used) this.#noteUse(table, id, ms)
      throw error
    }
  }

  #noteUse(table: UsedTable, id: number, ms: number): void {
    const used = this.#uses.get(table)
    if (used) used.set(id, ms)
    else this.#uses.set(table, new Map([[id, ms]]))
  }

  #admit(holder: KeyHolder, caller: Caller): Viewer {
    const refusal = this.#refusalOf(holder)
    if (refusal !== null) throw this.failures.refuse(caller, refusal)
    if (holder.limits) mayCallFrom(holder.limits, caller)
    // The key is valid, so it does not count as a failed authentication.
    if (holder.suspended) throw new ServiceError('ACCOUNT_SUSPENDED', reason('account_suspended'))
    return this.#used(holder)
  }

  /** Why a stored key is rejected; null if it is valid. */
  #refusalOf(holder: KeyHolder): Reason | null {
    const isOver = holder.expiresAtMs <= this.#now().getTime() || this.#isIdle(holder)
    return holder.refusal ?? (isOver ? reason('credential', { credential: this.#source.credential, state: 'expired' }) : null)
  }

  #isIdle({ idleMs, lastUsedAtMs }: KeyHolder): boolean {
    return idleMs !== null && lastUsedAtMs + idleMs <= this.#now().getTime()
  }

  /** Records the first use after a while. */
  #used(holder: KeyHolder): Viewer {
    const nowMs = this.#now().getTime()
    const { usesEveryMs } = this.#source
    if (Math.floor(nowMs / usesEveryMs) > Math.floor(holder.lastUsedAtMs / usesEveryMs)) {
      holder.lastUsedAtMs = nowMs
      this.#noteUse(holder.table ?? this.#source.table, holder.keyId, nowMs)
    }
    return holder.viewer
  }

  #unknownKey(caller: Caller): ServiceError {
    return this.failures.refuse(caller, reason('credential', { credential: this.#source.credential, state: 'unknown' }))
  }

  /** Concurrent calls with one key share one query. */
  #load(key: string, hash: Buffer): Promise<KeyHolder | null> {
    const running = this.#loading.get(key)
    if (running) return running
    const loading = this.#source
      .load(this.#db, hash)
      .then((holder) => {
        if (this.#loading.get(key) !== loading) return holder
        this.#changed.delete(key)
        if (holder) this.#holders.set(key, holder)
        else this.#unknown.set(nameOf(hash), true)
        return holder
      })
      .finally(() => {
        if (this.#loading.get(key) === loading) this.#loading.delete(key)
      })
    this.#loading.set(key, loading)
    return loading
  }
}

/** A hash as the key of a map; the credential itself would keep its whole header in memory. */
function nameOf(hash: Buffer): string {
  return hash.toString('latin1')
}
