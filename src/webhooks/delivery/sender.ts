// Webhook sender: woken by commits, it serves receivers in turn, posts notifications and records every attempt.
import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '#core/context.ts'
import type { Db } from '#db/schema.ts'
import type { Notices } from '#jobs/notices.ts'
import type { Scheduler } from '#jobs/scheduler.ts'
import type { Network } from '#outbound/dial.ts'
import { messageId, NOTIFICATION_HEADERS, TEST_MARK } from '../events/notification.ts'
import { type Outcome, post } from './post.ts'
import { ATTEMPTS, type Claim, type EndedAttempt, settleAndClaim, requeueLostAttempts, waitingAccounts, WAKE_CHANNEL } from './queue.ts'
import type { Sealing } from '#core/sealing.ts'
import { secretsOf } from './secrets.ts'
import { signatureHeaders } from './sign.ts'

export interface SenderOptions {
  db: Db
  log: Log
  scheduler: Scheduler
  notices: Notices
  now: () => Date
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

export function startSender({ db, log, scheduler, notices, now, network, sealing, retryDelaysMs, alone }: SenderOptions): Sender {
  /** accounts that may have due events, in the order in which they are served */
  const turns = new Set<number>()
  let ended: EndedAttempt[] = []
  const inFlight = new Map<Claim, Promise<void>>()
  let failingInFlight = 0
  let working = false
  let rounds: Promise<void> = Promise.resolve()
  let closed = false
  let lookInMs = POLL_MS
  /** whether notifications are handled: only from the first check on, so that this worker has nothing in progress during that check */
  let following = false

  const wake = (accountId: number) => {
    if (closed) return
    turns.add(accountId)
    work()
  }

  const work = () => {
    if (working) return
    working = true
    rounds = run()
  }

  /** Runs one transaction after another: each records ended attempts and starts the next ones. */
  const run = async () => {
    for (;;) {
      const accountIds = takeTurns()
      const settling = ended
      if (accountIds.length === 0 && settling.length === 0) break
      ended = []
      const free = SLOTS - inFlight.size
      try {
        const failingToo = failingInFlight < FAILING_SLOTS
        const claims = await settleAndClaim(db, now(), settling, { accountIds, each: Math.min(EACH, free), failingToo })
        for (const claim of claims) inFlight.set(claim, attempt(claim))
      } catch (error) {
        // A result that cannot be recorded now is recorded when the database is available again.
        ended = [...settling, ...ended]
        for (const accountId of accountIds) turns.add(accountId)
        log.warn({ err: error }, 'Failed to record webhook attempts; retrying')
        if (closed) break
        await delay(RETRY_MS)
      }
    }
    working = false
  }

  const takeTurns = (): number[] => {
    const free = SLOTS - inFlight.size
    if (closed || free <= 0) return []
    const taken = [...turns.values().take(Math.max(1, Math.floor(free / EACH)))]
    for (const accountId of taken) turns.delete(accountId)
    return taken
  }

  const attempt = async (claim: Claim) => {
    if (claim.failing) failingInFlight += 1
    const outcome = await deliver(claim).catch((error: unknown) => {
      // An internal error, not the receiver's fault: the lease expires, and the attempt is repeated.
      log.error({ err: error, eventId: claim.eventId }, 'Failed to send a webhook')
      return null
    })
    if (claim.failing) failingInFlight -= 1
    inFlight.delete(claim)
    if (outcome) ended.push({ ...claim, outcome, retryAt: outcome.success ? null : retryAt(claim) })
    if (!closed) turns.add(claim.accountId)
    work()
  }

  const deliver = async ({ eventId, test, body, url, attemptsLeft, ...claim }: Claim): Promise<Outcome> => {
    const second = attemptsLeft === ATTEMPTS - 2
    const signatures = signatureHeaders({ secrets: secretsOf(claim, sealing), second, id: messageId(eventId), at: now(), body })
    return post(new URL(url), { ...NOTIFICATION_HEADERS, ...signatures, ...(test && TEST_MARK) }, body, network)
  }

  const retryAt = ({ attemptsLeft }: Claim): Date | null => {
    const waitMs = attemptsLeft > 0 ? retryDelaysMs[ATTEMPTS - attemptsLeft - 1]! : null
    return waitMs === null ? null : new Date(now().getTime() + waitMs * (1 + Math.random() * JITTER))
  }

  /** Finds what notifications miss: due retries, attempts of dead workers, lost notifications. */
  const look = async () => {
    lookInMs = POLL_MS
    const at = now()
    await requeueLostAttempts(db, at, alone && !following ? FAR_FUTURE : at)
    if (closed) return
    if (!following) notices.follow(WAKE_CHANNEL, (payload) => wake(Number(payload)))
    following = true
    for (const { accountId, dueAt } of await waitingAccounts(db)) {
      const inMs = dueAt.getTime() - at.getTime()
      if (inMs <= 0) wake(accountId)
      else lookInMs = Math.min(lookInMs, inMs)
    }
  }

  scheduler.add({ name: 'webhooks-due', intervalMs: () => lookInMs, run: look })

  return {
    async close() {
      closed = true
      await rounds
      await Promise.all(inFlight.values())
      await rounds
    },
  }
}
