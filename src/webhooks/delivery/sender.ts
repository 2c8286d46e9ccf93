// Webhook sender: woken by commits, it serves receivers in turn, posts notifications and records every attempt.
import { delay } from '#core/process/time-and-chance.ts'
import type { Log } from '#core/context.ts'
import type { Sealing } from '#core/sealing.ts'
import { inSpan, TRACED, traceparent } from '#core/tracing/spans.ts'
import type { Db } from '#db/schema.ts'
import type { Notices } from '#jobs/notices.ts'
import type { Scheduler } from '#jobs/scheduler.ts'
import type { Network } from '#outbound/dial.ts'
import { messageId, NOTIFICATION_HEADERS, TEST_MARK } from '../events/notification.ts'
import { type Outcome, post } from './post.ts'
import { ATTEMPTS, type Claim, type EndedAttempt, settleAndClaim, requeueLostAttempts, waitingAccounts, WAKE_CHANNEL } from './queue.ts'
import { secretsOf } from './secrets.ts'
import { signatureHeaders } from './sign.ts'

export interface SenderOptions {
  db: Db
  log: Log
  scheduler: Scheduler
  notices: Notices
  now: () => Date
  /** numbers from 0 to 1, by which retries are delayed a little longer */
  random: () => number
  network: Network
  sealing: Sealing
  /** delays before the second and the third attempt */
  retryDelaysMs: readonly number[]
  /** whether no other worker uses this database: attempts that were in progress before the start are then lost and can be resumed at once */
  alone: boolean
}

export interface Sender {
  /** Starts no further attempts, waits for requests in progress and records their results. */
  close(): Promise<void>
}

const POLL_MS = 500
const RETRY_MS = 250
const SLOTS = 1_000
/** Maximum requests to receivers that do not respond, so that there is always capacity for those that do. */
const FAILING_SLOTS = SLOTS / 2
const EACH = 5
const JITTER = 0.2
const FAR_FUTURE = new Date('9999-12-31')

/** Starts to send due events. */
export function startSender(options: SenderOptions): Sender {
  const sender = new WebhookSender(options)
  sender.start()
  return sender
}

class WebhookSender implements Sender {
  readonly #options: SenderOptions
  /** accounts that may have due events, in the order in which they are served */
  readonly #turns = new Set<number>()
  #ended: EndedAttempt[] = []
  readonly #inFlight = new Map<Claim, Promise<void>>()
  #failingInFlight = 0
  #working = false
  #rounds: Promise<void> = Promise.resolve()
  #closed = false
  #lookInMs = POLL_MS
  /** whether notifications are handled: only from the first check on, so that this worker has nothing in progress during that check */
  #following = false

  constructor(options: SenderOptions) {
    this.#options = options
  }

  start(): void {
    this.#options.scheduler.add({ name: 'webhooks-due', intervalMs: () => this.#lookInMs, run: () => this.#look() })
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#rounds
    await Promise.all(this.#inFlight.values())
    await this.#rounds
  }

  #wake(accountId: number): void {
    if (this.#closed) return
    this.#turns.add(accountId)
    this.#work()
  }

  #work(): void {
    if (this.#working) return
    this.#working = true
    this.#rounds = this.#run()
  }

  /** Runs one transaction after another: each records ended attempts and starts the next ones. */
  async #run(): Promise<void> {
    const { db, log, now } = this.#options
    for (;;) {
      const accountIds = this.#takeTurns()
      const settling = this.#ended
      if (accountIds.length === 0 && settling.length === 0) break
      this.#ended = []
      const free = SLOTS - this.#inFlight.size
      try {
        const failingToo = this.#failingInFlight < FAILING_SLOTS
        const claims = await settleAndClaim(db, now(), settling, { accountIds, each: Math.min(EACH, free), failingToo })
        for (const claim of claims) this.#inFlight.set(claim, this.#attempt(claim))
      } catch (error) {
        // A result that cannot be recorded now is recorded when the database is available again.
        this.#ended = [...settling, ...this.#ended]
        for (const accountId of accountIds) this.#turns.add(accountId)
        log.warn({ err: error }, 'Failed to record webhook attempts; retrying')
        if (this.#closed) break
        await delay(RETRY_MS)
      }
    }
    this.#working = false
  }

  #takeTurns(): number[] {
    const free = SLOTS - this.#inFlight.size
    if (this.#closed || free <= 0) return []
    const taken = [...this.#turns.values().take(Math.max(1, Math.floor(free / EACH)))]
    for (const accountId of taken) this.#turns.delete(accountId)
    return taken
  }

  async #attempt(claim: Claim): Promise<void> {
    const { log } = this.#options
    if (claim.failing) this.#failingInFlight += 1
    const outcome = await this.#deliver(claim).catch((error: unknown) => {
      // An internal error, not the receiver's fault: the lease expires, and the attempt is repeated.
      log.error({ err: error, eventId: claim.eventId }, 'Failed to send a webhook')
      return null
    })
    if (claim.failing) this.#failingInFlight -= 1
    this.#inFlight.delete(claim)
    if (outcome) this.#ended.push({ ...claim, outcome, retryAt: outcome.success ? null : this.#retryAt(claim) })
    if (!this.#closed) this.#turns.add(claim.accountId)
    this.#work()
  }

  /** In a trace, the receiver gets the span of the attempt as its parent. */
  #deliver(claim: Claim): Promise<Outcome> {
    if (!TRACED) return this.#post(claim, null)
    return inSpan('webhook attempt', { cause: claim.cause, attributes: { 'mintmark.event_id': claim.eventId } }, async (span) => {
      const outcome = await this.#post(claim, traceparent())
      if (outcome.statusCode !== null) span.setAttribute('http.response.status_code', outcome.statusCode)
      return outcome
    })
  }

  async #post({ eventId, test, body, url, attemptsLeft, ...claim }: Claim, trace: string | null): Promise<Outcome> {
    const { network, now, sealing } = this.#options
    const second = attemptsLeft === ATTEMPTS - 2
    const signatures = signatureHeaders({ secrets: secretsOf(claim, sealing), second, id: messageId(eventId), at: now(), body })
    return post(new URL(url), { ...NOTIFICATION_HEADERS, ...signatures, ...(test && TEST_MARK), ...(trace && { traceparent: trace }) }, body, network)
  }

  #retryAt({ attemptsLeft }: Claim): Date | null {
    const { now, random, retryDelaysMs } = this.#options
    const waitMs = attemptsLeft > 0 ? retryDelaysMs[ATTEMPTS - attemptsLeft - 1]! : null
    return waitMs === null ? null : new Date(now().getTime() + waitMs * (1 + random() * JITTER))
  }

  /** Finds what notifications miss: due retries, attempts of dead workers, lost notifications. */
  async #look(): Promise<void> {
    const { alone, db, notices, now } = this.#options
    this.#lookInMs = POLL_MS
    const at = now()
    await requeueLostAttempts(db, at, alone && !this.#following ? FAR_FUTURE : at)
    if (this.#closed) return
    if (!this.#following) notices.follow(WAKE_CHANNEL, (payload) => this.#wake(Number(payload)))
    this.#following = true
    for (const { accountId, dueAt } of await waitingAccounts(db)) {
      const inMs = dueAt.getTime() - at.getTime()
      if (inMs <= 0) this.#wake(accountId)
      else this.#lookInMs = Math.min(this.#lookInMs, inMs)
    }
  }
}
