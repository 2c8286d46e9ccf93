// Activity in a period compared to the previous one, of one account or all: figures, one of which is charted by day.
import type { ComponentChildren } from 'preact'
import { lazy } from 'preact-iso'
import { useAddressQuery } from '#ui/address.ts'
import { Await } from '#ui/states.tsx'
import type { Activity as Answer } from '../api-types.ts'
import { useData } from '../api.ts'
import { calendarDay, count, duration, lira, share, t, type PlainWord } from '../words.ts'

const Trend = lazy(() => import('./trend.tsx').then((module) => module.Trend))

const REFRESH_MS = 60_000
const PERIODS = ['7', '30', '90', '365']
const USUAL = '30'

type Figures = Answer['totals']
type Day = Answer['days'][number]

interface Measure {
  name: string
  word: PlainWord
  /** value for a period or day; null if unknown */
  of: (figures: Figures | Day) => number | null
  /** value for the whole period, if it is not that of its totals */
  whole?: (totals: Figures, days: Day[]) => number | null
  show: (value: number) => string
  /** whether an increase is good; undefined if neither */
  more?: 'good' | 'bad'
  note?: (totals: Figures) => string | null
}

const lastKnown = (_totals: Figures, days: Day[]) => days.findLast((day) => day.active_listings !== null)?.active_listings ?? null

const MEASURES: Measure[] = [
  { name: 'turnover', word: 'turnover', of: (one) => one.turnover, show: lira, more: 'good' },
  { name: 'commission', word: 'commission', of: (one) => one.commission, show: lira, more: 'good' },
  { name: 'payouts', word: 'payouts', of: (one) => one.payouts, show: lira },
  { name: 'orders', word: 'orders', of: (one) => one.orders, show: count, more: 'good', note: (one) => t('unitsSold', { count: one.units }) },
  { name: 'refunds', word: 'refunds', of: (one) => one.refunds, show: lira, more: 'bad' },
  {
    name: 'listings',
    word: 'activeListings',
    of: (one) => ('active_listings' in one ? one.active_listings : null),
    whole: lastKnown,
    show: count,
    more: 'good',
  },
  {
    name: 'wait',
    word: 'approvalWait',
    of: (one) => one.wait_p50_hours,
    show: duration,
    more: 'bad',
    note: (one) => (one.wait_p90_hours === null ? null : t('waitP90', { wait: duration(one.wait_p90_hours), count: one.decided })),
  },
  { name: 'requests', word: 'apiRequests', of: (one) => one.requests, show: count, more: 'good' },
  {
    name: 'webhooks',
    word: 'webhookSuccess',
    of: ({ webhook_attempts: attempts, webhook_failures: failures }) => (attempts ? 1 - failures! / attempts : null),
    show: share,
    more: 'good',
    note: (one) => (one.webhook_attempts === null ? null : t('webhookAttempts', { count: one.webhook_attempts, failed: one.webhook_failures ?? 0 })),
  },
]
/** Figures that are not recorded per account. */
const OF_ALL = ['listings']

interface ActivityProps {
  /** null for all accounts */
  accountId: number | null
  /** shown below the chart */
  children?: (activity: Answer) => ComponentChildren
}

export function Activity({ accountId, children }: ActivityProps) {
  const { values, set } = useAddressQuery()
  const days = PERIODS.includes(values.days ?? '') ? values.days! : USUAL
  const account = accountId === null ? {} : { account_id: accountId }
  const activity = useData('/stats/activity', { query: { days: Number(days), ...account }, again: () => REFRESH_MS })
  const measures = accountId === null ? MEASURES : MEASURES.filter(({ name }) => !OF_ALL.includes(name))
  const chosen = measures.find(({ name }) => name === values.measure) ?? measures[0]!
  return (
    <>
      <section class="activity" aria-labelledby="activity" aria-busy={activity.loading}>
        <div class="head">
          <h2 id="activity">{t('activity')}</h2>
          <label>
            {t('period')}{' '}
            <select value={days} onChange={({ currentTarget }) => set({ days: currentTarget.value === USUAL ? '' : currentTarget.value })}>
              {PERIODS.map((value) => (
                <option key={value} value={value}>
                  {t('lastDays', { count: Number(value) })}
                </option>
              ))}
            </select>
          </label>
        </div>
        <Await of={activity}>
          {(answer) => (
            <>
              <p class="quiet">
                {t('comparedPeriods', {
                  from: calendarDay(answer.period.from),
                  to: calendarDay(answer.period.to),
                  earlier: calendarDay(answer.previous.from),
                  until: calendarDay(answer.previous.to),
                })}
              </p>
              <div class="tiles">
                {measures.map((measure) => (
                  <Figure
                    key={measure.name}
                    measure={measure}
                    of={answer}
                    chosen={measure === chosen}
                    choose={() => set({ measure: measure === measures[0] ? '' : measure.name })}
                  />
                ))}
              </div>
              <div class="panel">
                <h3>{t('byDay', { name: t(chosen.word) })}</h3>
                <Trend
                  title={t('byDay', { name: t(chosen.word) })}
                  days={answer.days.map((one) => ({ day: one.day, value: chosen.of(one) }))}
                  before={answer.previous_days.map((one) => ({ day: one.day, value: chosen.of(one) }))}
                  show={chosen.show}
                />
              </div>
            </>
          )}
        </Await>
      </section>
      {activity.data && children?.(activity.data)}
    </>
  )
}

interface FigureProps {
  measure: Measure
  of: Answer
  chosen: boolean
  choose: () => void
}

function Figure({ measure: { word, of, whole, show, more, note }, of: answer, chosen, choose }: FigureProps) {
  const now = whole ? whole(answer.totals, answer.days) : of(answer.totals)
  const before = whole ? whole(answer.previous_totals, answer.previous_days) : of(answer.previous_totals)
  const extra = note?.(answer.totals)
  return (
    <button type="button" class="tile" aria-pressed={chosen} onClick={choose}>
      <span>{t(word)}</span>
      <strong>{now === null ? '–' : show(now)}</strong>
      <small>
        {before === null ? t('nothingBefore') : t('wasBefore', { value: show(before) })} <Change now={now} before={before} more={more} />
        {extra && <span class="extra">{extra}</span>}
      </small>
    </button>
  )
}

/** Change in percent; nothing if a percentage is not meaningful. */
function Change({ now, before, more }: { now: number | null; before: number | null; more: Measure['more'] }) {
  if (now === null || before === null || before === 0 || now === before) return null
  const change = now / before - 1
  const tone = more === undefined ? '' : (more === 'good') === change > 0 ? 'good' : 'bad'
  return (
    <b class={`change ${tone}`}>
      {change > 0 ? '+' : '−'}
      {share(Math.abs(change))}
    </b>
  )
}
