// Changes of several listings as one action, with failures by listing and one undo. Actions that nothing can undo are held back for a while first.
import { effect, signal } from '@preact/signals'
import { ApiError, newKey } from '#ui/api.ts'
import { asApiError } from '#ui/data.ts'
import type { OwnListing } from '../../client/src/api.ts'
import { request, sessions } from './api.ts'

export type BulkAction = 'pause' | 'publish' | 'renew' | 'delete' | 'sku'
type ListingStatus = OwnListing['status']

/** The states in which each action is possible; null for all. */
export const ALLOWED: Record<Exclude<BulkAction, 'sku'>, readonly ListingStatus[] | null> = {
  pause: ['active'],
  publish: ['paused', 'expired', 'rejected'],
  renew: ['active', 'paused', 'expired'],
  delete: null,
}

/** No action restores a deleted listing or an old period, so these can only be stopped before they run. */
const HELD: readonly BulkAction[] = ['renew', 'delete']
export const HOLD_MS = 10_000
/** Requests that run at the same time. */
const AT_ONCE = 4
/** Actions that are shown with their result. */
const SHOWN = 3

export interface BulkTarget {
  /** as the seller saw it */
  listing: OwnListing
  /** only for the action `sku` */
  sku?: string | null
}

export interface BulkFailure {
  listing: OwnListing
  error: ApiError
}

/** A listing that an undo did not restore: the request failed, it waits for approval, or it is now in another state than before. */
export interface NotRestored {
  listing: OwnListing
  why: ApiError | { status: ListingStatus }
}

interface Changed extends BulkTarget {
  /** after the action */
  status: ListingStatus
  /** null if the response has none */
  etag: string | null
}

/** One action: held back, running, done, being undone or undone; `cancelled` if it was stopped before it ran. */
export interface Bulk {
  id: number
  action: BulkAction
  targets: readonly BulkTarget[]
  step: 'held' | 'running' | 'done' | 'undoing' | 'undone' | 'cancelled'
  changed: readonly Changed[]
  failures: readonly BulkFailure[]
  notRestored: readonly NotRestored[]
}

/** Newest last. */
export const bulks = signal<readonly Bulk[]>([])
/** Increases whenever an action has changed listings. */
export const bulkVersion = signal(0)

const timers = new Map<number, ReturnType<typeof setTimeout>>()
let lastId = 0

// Actions belong to the signed-in account.
effect(() => {
  if (sessions.session.value !== null) return
  for (const timer of timers.values()) clearTimeout(timer)
  timers.clear()
  bulks.value = []
})

addEventListener('pagehide', () => {
  for (const id of timers.keys()) void runNow(id, true)
})

/** Runs an action, or holds it back first. @returns the listings that it could not change; none if it is held back */
export async function startBulk(action: BulkAction, targets: readonly BulkTarget[]): Promise<readonly BulkFailure[]> {
  const id = ++lastId
  const step = HELD.includes(action) ? 'held' : 'running'
  const started: Bulk = { id, action, targets, step, changed: [], failures: [], notRestored: [] }
  bulks.value = [...bulks.value.filter((one, i, { length }) => !isFinished(one) || i > length - SHOWN), started]
  if (step === 'running') return run(started)
  timers.set(
    id,
    setTimeout(() => void runNow(id), HOLD_MS),
  )
  return []
}

function isFinished({ step }: Bulk): boolean {
  return step === 'done' || step === 'undone' || step === 'cancelled'
}

/** Runs what is held back at once, such as before signing out. */
export async function runHeld(): Promise<void> {
  await Promise.all([...timers.keys()].map((id) => runNow(id)))
}

export function dismissBulk(id: number): void {
  bulks.value = bulks.value.filter((one) => one.id !== id)
}

/** Restores what the action changed, or stops it if it is still held back. */
export async function undoBulk(bulk: Bulk): Promise<void> {
  if (bulk.step === 'held') {
    clearTimeout(timers.get(bulk.id))
    timers.delete(bulk.id)
    update(bulk.id, { step: 'cancelled' })
    return
  }
  update(bulk.id, { step: 'undoing' })
  const notRestored: NotRestored[] = []
  await eachAtOnce(bulk.changed, async (one) => {
    const why = await restore(bulk.action, one).catch(asApiError)
    if (why) notRestored.push({ listing: one.listing, why })
  })
  update(bulk.id, { step: 'undone', notRestored })
  bulkVersion.value += 1
}

/** The action for which a listing is held back. */
export function heldActionOf({ id }: OwnListing): BulkAction | undefined {
  return bulks.value.find(({ step, targets }) => step === 'held' && targets.some(({ listing }) => listing.id === id))?.action
}

function update(id: number, changes: Partial<Bulk>): void {
  bulks.value = bulks.value.map((one) => (one.id === id ? { ...one, ...changes } : one))
}

/** @param leaving whether the page is being closed: the browser then still sends the requests, which must all start now */
async function runNow(id: number, leaving = false): Promise<void> {
  clearTimeout(timers.get(id))
  timers.delete(id)
  const held = bulks.value.find((one) => one.id === id)
  if (held) await run(held, leaving)
}

async function run({ id, action, targets }: Bulk, leaving = false): Promise<readonly BulkFailure[]> {
  update(id, { step: 'running' })
  const changed: Changed[] = []
  const failures: BulkFailure[] = []
  if (action === 'renew') await renewAll(targets, leaving, changed, failures)
  else {
    await eachAtOnce(
      targets,
      async (target) => {
        try {
          changed.push(await changeOne(action, target, leaving))
        } catch (error) {
          failures.push({ listing: target.listing, error: asApiError(error) })
        }
      },
      leaving ? targets.length : AT_ONCE,
    )
  }
  update(id, { step: 'done', changed, failures })
  bulkVersion.value += 1
  return failures
}

async function eachAtOnce<Row>(rows: readonly Row[], work: (row: Row) => Promise<void>, atOnce = AT_ONCE): Promise<void> {
  const waiting = rows.values()
  const worker = async () => {
    // All workers take from the same iterator.
    for (const row of waiting) await work(row)
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, rows.length) }, worker))
}

/** Applies to the listing as shown. @throws ApiError */
async function changeOne(action: Exclude<BulkAction, 'renew'>, target: BulkTarget, keepalive: boolean): Promise<Changed> {
  const { listing } = target
  const path = `/plus/listings/${listing.id}` as const
  if (action === 'delete') {
    await request('DELETE', path, { ifMatch: listing.etag, keepalive })
    return { ...target, status: listing.status, etag: null }
  }
  const reply =
    action === 'sku'
      ? await request('PATCH', path, { json: { sku: target.sku ?? null } })
      : await request('POST', `${path}/status`, { json: { action }, ifMatch: listing.etag, idempotencyKey: newKey() })
  return { ...target, status: reply.data.status, etag: reply.etag ?? null }
}

/** One request for all listings. */
async function renewAll(targets: readonly BulkTarget[], keepalive: boolean, changed: Changed[], failures: BulkFailure[]): Promise<void> {
  const json = { ids: targets.map(({ listing }) => listing.id) }
  try {
    const { data } = await request('POST', '/plus/listings/renew', { json, idempotencyKey: newKey(), keepalive })
    const results = new Map(data.map((row) => [row.id, row]))
    for (const target of targets) {
      const result = results.get(target.listing.id)
      if (!result?.refused) changed.push({ ...target, status: result?.status ?? target.listing.status, etag: null })
      else failures.push({ listing: target.listing, error: new ApiError(409, { code: 'CONFLICT', ...result.refused }) })
    }
  } catch (error) {
    for (const { listing } of targets) failures.push({ listing, error: asApiError(error) })
  }
}

/**
 * Restores one listing, unless it has changed since the action.
 * @returns why it is not as before; null if it is
 * @throws ApiError
 */
async function restore(action: BulkAction, { listing, status, etag }: Changed): Promise<NotRestored['why'] | null> {
  const path = `/plus/listings/${listing.id}` as const
  const ifMatch = etag ?? ''
  if (action === 'sku') {
    await request('PATCH', path, { json: { sku: listing.sku }, ifMatch })
    return null
  }
  const back = action === 'pause' ? 'publish' : 'pause'
  const isReversible = action === 'pause' || (action === 'publish' && listing.status === 'paused' && status === 'active')
  if (!isReversible) return { status }
  const { data } = await request('POST', `${path}/status`, { json: { action: back }, ifMatch, idempotencyKey: newKey() })
  return data.status === listing.status ? null : { status: data.status }
}
