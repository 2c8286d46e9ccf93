// Counts requests across nodes: a node leases part of an account's limit for the current minute from a store that all nodes share and
// counts against it in memory, so few requests wait for the store.
import { chance, delay, monotonicMs } from '#core/process/time-and-chance.ts'
import type { Log } from '#core/context.ts'

export const WINDOW_SECONDS = 60

/** Maximum time that a request waits for a lease. */
const PATIENCE_MS = 250
/** Interval at which a node that counts alone requests a lease. */
const RETRY_MS = 500
const WARN_EVERY_MS = 60_000
/** A node that was the only one to lease recently gets the remaining limit divided by this; one of several gets less. */
export const SINGLE_NODE_SHARE = 2
export const MULTI_NODE_SHARE = 10
export const MULTI_NODE_SECONDS = 120

/** Leases part of an account's remaining limit; rejects if the store cannot be reached. */
export type LeaseStore = (request: {
  accountId: number
  limit: number
  /** requests of this node's last lease that are returned */
  unused: number
  node: number
}) => Promise<{
  granted: number
  /** requests leased by all nodes in this minute, including these */
  leased: number
  /** milliseconds until the minute ends */
  msLeft: number
}>

/** A request that was counted. */
export interface CountResult {
  /** requests of the account in this minute; above the limit if this one is rejected */
  consumedPoints: number
  /** milliseconds until the minute ends */
  msBeforeNext: number
}

interface Lease {
  limit: number
  /** requests that this node may still accept; below 0: requests accepted without a lease */
  left: number
  /** requests leased by all nodes in this minute */
  leased: number
  /** by `monotonicMs` */
  endsMs: number
}

/** All nodes together never exceed the limit; leased requests that a node does not use are lost to the others. */
export class LimitLeases {
  /** requests counted on this node alone since the start */
  countedAlone = 0
  readonly #store: LeaseStore
  readonly #log: Log
  readonly #node = Math.floor(chance() * 2 ** 31)
  readonly #leases = new Map<number, Lease>()
  /** account id → pending lease; requests of an account share it */
  readonly #renewals = new Map<number, Promise<void>>()
  #alone = false
  /** leases requested from the store and still pending */
  #pending = 0
  #retriedMs = -Infinity
  #warnedMs = -Infinity
  #sweptMs = monotonicMs()

  constructor(store: LeaseStore, log: Log) {
    this.#store = store
    this.#log = log
  }

  async count(accountId: number, limit: number): Promise<CountResult> {
    for (;;) {
      const counted = this.#fromLease(accountId, limit)
      if (counted) return counted
      if (this.#alone) {
        this.#retry(accountId, limit)
        this.countedAlone += 1
        return this.#withoutLease(accountId, limit)
      }
      await this.#renew(accountId, limit)
    }
  }

  /** Null if a lease has to be requested first. */
  #fromLease(accountId: number, limit: number): CountResult | null {
    const lease = this.#leases.get(accountId)
    const nowMs = monotonicMs()
    if (!lease || lease.endsMs <= nowMs || lease.limit !== limit) return null
    const msBeforeNext = lease.endsMs - nowMs
    if (lease.left > 0) {
      lease.left -= 1
      return { consumedPoints: lease.leased - lease.left, msBeforeNext }
    }
    return lease.leased >= limit ? { consumedPoints: limit + 1, msBeforeNext } : null
  }

  /** Counts against the known state of this minute; a later lease is reduced by the requests accepted meanwhile. */
  #withoutLease(accountId: number, limit: number): CountResult {
    const nowMs = monotonicMs()
    let lease = this.#leases.get(accountId)
    if (!lease || lease.endsMs <= nowMs) {
      lease = { limit, left: 0, leased: 0, endsMs: nowMs + WINDOW_SECONDS * 1_000 }
      this.#leases.set(accountId, lease)
    }
    const consumedPoints = lease.leased - lease.left + 1
    if (consumedPoints <= limit) lease.left -= 1
    return { consumedPoints, msBeforeNext: lease.endsMs - nowMs }
  }

  /** Resolves when there is a lease, or when this node counts alone. */
  #renew(accountId: number, limit: number): Promise<void> {
    const running = this.#renewals.get(accountId)
    if (running) return running
    const waiting = new AbortController()
    // A late lease is still used.
    const leased = this.#lease(accountId, limit)
    const late = delay(PATIENCE_MS, { signal: waiting.signal }).then(
      () => this.#countAlone(new Error(`no lease within ${PATIENCE_MS} ms`)),
      () => {},
    )
    const renewal = Promise.race([leased, late]).finally(() => {
      waiting.abort()
      this.#renewals.delete(accountId)
    })
    this.#renewals.set(accountId, renewal)
    return renewal
  }

  /** Requests a lease in the background; once it is granted, this node no longer counts alone. */
  #retry(accountId: number, limit: number): void {
    const nowMs = monotonicMs()
    if (this.#pending > 0 || nowMs - this.#retriedMs < RETRY_MS) return
    this.#retriedMs = nowMs
    void this.#lease(accountId, limit)
  }

  async #lease(accountId: number, limit: number): Promise<void> {
    const requestedMs = monotonicMs()
    this.#sweep(requestedMs)
    const before = this.#leases.get(accountId)
    const unused = before && before.endsMs > requestedMs ? before.left : 0
    if (before && unused > 0) before.left = 0
    this.#pending += 1
    try {
      const { granted, leased, msLeft } = await this.#store({ accountId, limit, unused, node: this.#node })
      // Includes requests accepted without a lease since then, or another lease that arrived late.
      const now = this.#leases.get(accountId)
      const since = (now && now.endsMs > requestedMs ? now.left : 0) - (now === before ? Math.min(0, unused) : 0)
      // The minute starts at the time of the request, so it ends here no later than in the store.
      this.#leases.set(accountId, { limit, left: granted + since, leased, endsMs: requestedMs + msLeft })
      this.#alone = false
    } catch (error) {
      this.#countAlone(error)
    } finally {
      this.#pending -= 1
    }
  }

  #countAlone(err: unknown): void {
    this.#alone = true
    const nowMs = monotonicMs()
    if (nowMs - this.#warnedMs < WARN_EVERY_MS) return
    this.#warnedMs = nowMs
    this.#log.warn({ err }, 'Rate limits are not shared; counting on this node alone')
  }

  /** Drops leases that have ended, at most once a minute. */
  #sweep(nowMs: number): void {
    if (nowMs - this.#sweptMs < WINDOW_SECONDS * 1_000) return
    this.#sweptMs = nowMs
    for (const [accountId, { endsMs }] of this.#leases) if (endsMs <= nowMs) this.#leases.delete(accountId)
  }
}
