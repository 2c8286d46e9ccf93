// What the seller has to do: counts of listings, offers, imports, price changes and webhook attempts, each with the page that shows them.
import type { Loaded } from '#ui/data.ts'
import type { OwnListing, PriceJobSummary, Webhook, WebhookLog } from '../../client/src/api.ts'
import { mayWrite, useData } from './api.ts'
import { count, t, termText } from './words.ts'

export const ROWS_PER_PAGE = 100
const ENDING_DAYS = 7
const DAY_MS = 86_400_000

interface Task {
  href: string
  label: string
  /** ends with + if there may be more */
  figure: string
  note?: string
}

export interface ToDo {
  /** requests that it is read from */
  loads: Loaded<unknown>[]
  /** of the responses received so far */
  tasks: Task[]
}

/** @param stock active listings, least stock first */
export function useToDo(stock: Loaded<OwnListing[]>): ToDo {
  const rejected = useData('/plus/my-listings', { query: { status: 'rejected', per_page: 1 } })
  const pending = useData('/plus/my-listings', { query: { status: 'pending', per_page: 1 } })
  const active = useData('/plus/my-listings', { query: { status: 'active', sort_by: 'expiring', per_page: ROWS_PER_PAGE } })
  // The renewal page includes paused listings, whose period continues.
  const paused = useData('/plus/my-listings', { query: { status: 'paused', sort_by: 'expiring', per_page: ROWS_PER_PAGE } })
  const offers = useData('/plus/offers', { query: { status: 'open', per_page: 1 } })
  const parked = useData('/plus/parked-listings', { query: { per_page: 1 } })
  const jobs = useData('/plus/price-jobs', { query: { per_page: ROWS_PER_PAGE } })
  const webhook = useData('/plus/webhook')
  const attempts = useData('/plus/webhook/logs', { query: { per_page: ROWS_PER_PAGE } })
  const tasks = [
    totalOf(rejected, '/desk?status=rejected', t('changesRequested')),
    totalOf(pending, '/desk?status=pending', termText('status', 'pending')),
    totalOf(offers, '/desk/offers?status=open', t('offersToAnswer')),
    endingTask([active, paused]),
    stockTask(stock),
    totalOf(parked, '/desk/files', t('rowsToPlace')),
    jobsTask(jobs),
    webhookTask(webhook, attempts),
  ]
  return {
    loads: [rejected, pending, offers, active, paused, stock, parked, jobs, webhook, attempts],
    tasks: tasks.filter((task) => task !== null),
  }
}

function totalOf({ pagination }: Loaded<unknown>, href: string, label: string): Task | null {
  return taskOf({ number: pagination?.total ?? 0, more: false }, { href, label })
}

interface Counted {
  number: number
  /** whether further pages may have some, too */
  more: boolean
}

function taskOf({ number, more }: Counted, task: Omit<Task, 'figure'>): Task | null {
  return number === 0 ? null : { ...task, figure: `${count(number)}${more ? '+' : ''}` }
}

/** Counts matching rows of a list whose order puts them first. */
function leading<Row>({ data, pagination }: Loaded<Row[]>, matches: (row: Row) => boolean): Counted {
  const rows = data ?? []
  const first = rows.findIndex((row) => !matches(row))
  return first < 0 ? { number: rows.length, more: pagination?.has_more === true } : { number: first, more: false }
}

function endingTask(lists: Loaded<OwnListing[]>[]): Task | null {
  const by = Date.now() + ENDING_DAYS * DAY_MS
  const counted = lists.map((list) => leading(list, ({ expires_at: end }) => end !== null && Date.parse(end) <= by))
  const sum = { number: counted.reduce((total, { number }) => total + number, 0), more: counted.some(({ more }) => more) }
  // Renewal previews are writes, which read-only keys may not send.
  const href = mayWrite() ? `/desk/renewal?days=${ENDING_DAYS}` : '/desk?status=active&sort_by=expiring'
  return taskOf(sum, { href, label: t('endingSoon', { count: ENDING_DAYS }) })
}

/** One unit is the usual stock of a single card, so it is only a note. */
function stockTask(stock: Loaded<OwnListing[]>): Task | null {
  const empty = leading(stock, ({ quantity }) => quantity === 0)
  const low = leading(stock, ({ quantity }) => quantity <= 1)
  const note = t('lastUnits', { count: `${count(low.number - empty.number)}${low.more ? '+' : ''}` })
  return taskOf(empty, { href: '/desk?status=active&sort_by=quantity_low', label: termText('status', 'no_stock'), note })
}

function jobsTask({ data, pagination }: Loaded<PriceJobSummary[]>): Task | null {
  const jobs = data ?? []
  const planned = jobs.filter(({ state }) => state === 'planned')
  const oldest = jobs.at(-1)
  // Plans last a day: older pages have none if the oldest plan of this page has ended.
  const more = pagination?.has_more === true && oldest !== undefined && Date.parse(oldest.expires_at) > Date.now()
  const href = planned.length === 1 && !more ? `/desk/price-jobs/${planned[0]!.id}` : '/desk/price-jobs'
  return taskOf({ number: planned.length, more }, { href, label: t('plansToApply') })
}

/** Not set, paused, or failing: then it counts the attempts since the last success. */
function webhookTask(webhook: Loaded<Webhook | null>, attempts: Loaded<WebhookLog[]>): Task | null {
  if (webhook.loading || webhook.error) return null
  const href = '/desk/webhook'
  if (webhook.data === null) return { href, label: t('webhookNotSet'), figure: '–' }
  if (!webhook.data.is_active) return { href, label: `${t('webhook')}: ${termText('status', 'paused')}`, figure: '–' }
  // A check sends notifications that the receiver must refuse.
  const deliveries = attempts.data?.filter(({ mark }) => mark !== 'check') ?? null
  return taskOf(
    leading({ ...attempts, data: deliveries }, ({ success }) => !success),
    { href, label: t('webhookFailing') },
  )
}
