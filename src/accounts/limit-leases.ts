// Counts requests across nodes in PostgreSQL: a node leases part of an account's limit for the current minute with one statement and
// counts against it in memory, so few requests wait for the database.
import { randomInt } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Db } from '#db/schema.ts'

export const WINDOW_SECONDS = 60

/** A request waits no longer than this for a lease. */
const PATIENCE_MS = 250
/** How long a node counts alone after the database did not answer in time. */
const ALONE_MS = 5_000
/** A node that was the only one to lease recently takes this share of the rest; one of several takes less. */
const SHARE_ALONE = 2
const SHARE_OF_SEVERAL = 10
const SEVERAL_SECONDS = 120

/** A request that was counted. */
export interface Counted {
  /** requests of the account in this minute, above the limit for one that may not pass */
  consumedPoints: number
  /** milliseconds until the minute ends */
  msBeforeNext: number
}

export type Counter = (accountId: number, limit: number) => Promise<Counted>

interface Lease {
  limit: number
  /** requests that this node may still let pass */
  left: number
  /** requests leased by all nodes in this minute */
  leased: number
  /** by `performance.now()` */
  endsMs: number
}

/** All nodes together never exceed the limit; leased requests that a node does not use are lost to the others. */
export class LimitLeases {
  readonly #db: Db
  readonly #alone: Counter
  readonly #node = randomInt(2 ** 31)
  readonly #leases = new Map<number, Lease>()
  /** account id → pending lease; requests of an account share it */
  readonly #renewals = new Map<number, Promise<void>>()
  #aloneUntilMs = -Infinity
  #sweptMs = performance.now()

  /** @param alone counts while the database does not answer */
  constructor(db: Db, alone: Counter) {
    this.#db = db
    this.#alone = alone
  }

  async count(accountId: number, limit: number): Promise<Counted> {
    for (;;) {
      const counted = this.#fromLease(accountId, limit)
      if (counted) return counted
      if (performance.now() < this.#aloneUntilMs) return this.#alone(accountId, limit)
      await this.#renew(accountId, limit)
    }
  }

  /** Null if a lease has to be requested first. */
  #fromLease(accountId: number, limit: number): Counted | null {
    const lease = this.#leases.get(accountId)
    const nowMs = performance.now()
    if (!lease || lease.endsMs <= nowMs || lease.limit !== limit) return null
    const msBeforeNext = lease.endsMs - nowMs
    if (lease.left > 0) {
      lease.left -= 1
      return { consumedPoints: lease.leased - lease.left, msBeforeNext }
    }
    return lease.leased >= limit ? { consumedPoints: limit + 1, msBeforeNext } : null
  }

  /** Resolves when there is a lease, or when this node counts alone for a while. */
  #renew(accountId: number, limit: number): Promise<void> {
    const running = this.#renewals.get(accountId)
    if (running) return running
    const waiting = new AbortController()
    const countAlone = () => void (this.#aloneUntilMs = performance.now() + ALONE_MS)
    // A late lease is used all the same.
    const leased = this.#lease(accountId, limit).catch(countAlone)
    const late = delay(PATIENCE_MS, null, { signal: waiting.signal }).then(countAlone, () => {})
    const renewal = Promise.race([leased, late]).finally(() => {
      waiting.abort()
      this.#renewals.delete(accountId)
    })
    this.#renewals.set(accountId, renewal)
    return renewal
  }

  async #lease(accountId: number, limit: number): Promise<void> {
    const askedMs = performance.now()
    this.#sweep(askedMs)
    const before = this.#leases.get(accountId)
    const unused = before && before.endsMs > askedMs ? before.left : 0
    if (before) before.left = 0
    const first = Math.ceil(limit / SHARE_ALONE)
    const { rows } = await sql<{ granted: number; leased: number; ms_left: number }>`
      insert into rate_limit_leases as l (account_id, ends_at, leased, granted, node, shared_at)
      values (${accountId}, clock_timestamp() + make_interval(secs => ${WINDOW_SECONDS}), ${first}, ${first}, ${this.#node}, '-infinity')
      on conflict (account_id) do update set (ends_at, leased, granted, node, shared_at) = (
        select ends_at, leased + granted, granted, excluded.node, shared_at
        from (select case when l.node = excluded.node then l.shared_at else clock_timestamp() end as shared_at,
                     case when l.ends_at > clock_timestamp() then l.ends_at else excluded.ends_at end as ends_at,
                     case when l.ends_at > clock_timestamp() then greatest(0, l.leased - ${unused}::int) else 0 end as leased) as minute,
             lateral (select greatest(0, ${limit}::int - leased) as free,
                        case when shared_at > clock_timestamp() - make_interval(secs => ${SEVERAL_SECONDS})
                          then ${SHARE_OF_SEVERAL}::int else ${SHARE_ALONE}::int end as share) as room,
             lateral (select (free + share - 1) / share as granted) as part)
      returning granted, leased, extract(epoch from ends_at - clock_timestamp())::float8 * 1000 as ms_left`.execute(this.#db.kysely)
    const { granted, leased, ms_left: msLeft } = rows[0]!
    // From the time of the request, so that it ends here no later than in the database.
    this.#leases.set(accountId, { limit, left: granted, leased, endsMs: askedMs + msLeft })
  }

  /** Drops leases that have ended, at most once a minute. */
  #sweep(nowMs: number): void {
    if (nowMs - this.#sweptMs < WINDOW_SECONDS * 1_000) return
    this.#sweptMs = nowMs
    for (const [accountId, { endsMs }] of this.#leases) if (endsMs <= nowMs) this.#leases.delete(accountId)
  }
}
