// Worth of a collection by day: stepped lines of value and cost by currency, and the same data as a table.
import { useMemo, useState } from 'preact/hooks'
import type uPlot from 'uplot'
import type { CollectionWorthDay } from '../client/src/api.ts'
import type { Loaded } from './data.ts'
import { LazyStepChart } from './lazy-step-chart.tsx'
import { Await, Empty } from './states.tsx'
import type { ChartSeries } from './step-chart.tsx'
import { Table } from './table.tsx'
import { startOfDay } from './time-zone.ts'
import { calendarDay, count, money, t } from './words.ts'

type Amounts = CollectionWorthDay['currencies'][number]

/** @param name of the collection, if the page does not show it */
export function WorthHistory({ of: history, name }: { of: Loaded<CollectionWorthDay[]>; name?: string }) {
  return (
    <section>
      <h2>{name === undefined ? t('worthHistory') : t('worthHistoryOf', { name })}</h2>
      <p class="quiet">{t('worthHistoryText')}</p>
      <Await of={history}>{(days) => (days.length === 0 ? <Empty>{t('noWorthYet')}</Empty> : <Days of={days} />)}</Await>
    </section>
  )
}

function Days({ of: days }: { of: CollectionWorthDay[] }) {
  const currencies = [...new Set(days.flatMap((day) => day.currencies.map(({ currency }) => currency)))]
  const [chosen, choose] = useState(currencies[0])
  const shown = chosen !== undefined && currencies.includes(chosen) ? chosen : currencies[0]
  const last = days.at(-1)!
  const left = last.without_price + last.without_trusted_price
  return (
    <>
      {currencies.length > 1 && (
        <fieldset class="choices">
          <legend class="hidden">{t('currency')}</legend>
          {currencies.map((currency) => (
            <button key={currency} type="button" aria-pressed={currency === shown} onClick={() => choose(currency)}>
              {currency}
            </button>
          ))}
        </fieldset>
      )}
      {shown === undefined ? <Empty>{t('nothingWorth')}</Empty> : <Chart days={days} currency={shown} />}
      {left > 0 && (
        <p class="quiet">{t('leftOut', { day: calendarDay(last.day), price: last.without_price, trusted: last.without_trusted_price })}</p>
      )}
      {shown !== undefined && <DayTable days={days.toReversed()} currency={shown} />}
    </>
  )
}

function Chart({ days, currency }: { days: CollectionWorthDay[]; currency: string }) {
  const { columns, starts } = useMemo(() => columnsOf(days, currency), [days, currency])
  const dots = days.length < SPARSE ? starts : null
  const drawn: ChartSeries[] = [
    { kind: 'line', label: t('worth'), colour: '--line-1', dots },
    { kind: 'line', label: t('cost'), colour: '--line-2', dots: null },
  ]
  return <LazyStepChart label={t('worthChart', { currency })} columns={columns} drawn={drawn} currency={currency} />
}

/** With fewer days than this, each one is marked. */
const SPARSE = 40

/** A figure holds for its whole day; a day without one is a gap. `starts` are the indices where days with a figure start. */
function columnsOf(days: CollectionWorthDay[], currency: string): { columns: uPlot.AlignedData; starts: number[] } {
  const times: number[] = []
  const values: (number | null)[] = []
  const costs: (number | null)[] = []
  const starts: number[] = []
  const add = (time: number, amounts?: Amounts) => {
    times.push(time)
    values.push(amounts?.value ?? null)
    costs.push(amounts?.cost ?? null)
  }
  for (const [index, { day, currencies }] of days.entries()) {
    const amounts = currencies.find((one) => one.currency === currency)
    if (amounts) starts.push(times.length)
    add(startOf(day, 0), amounts)
    const next = days[index + 1]
    const end = startOf(day, 1)
    if (next && startOf(next.day, 0) === end) continue
    add(end - 1, amounts)
    if (next) add(end)
  }
  return { columns: [times, values, costs], starts }
}

/** Midnight in the time zone of the pages, in seconds, so that the chart has the same days as the table. */
function startOf(day: string, plus: number): number {
  return startOfDay(day, plus).getTime() / 1000
}

const TABLE_ROWS = 200

function DayTable({ days, currency }: { days: CollectionWorthDay[]; currency: string }) {
  const amount = (of: CollectionWorthDay, name: 'value' | 'cost' | 'gain') => {
    const found = of.currencies.find((one) => one.currency === currency)?.[name] ?? null
    return found === null ? '–' : money(found, currency)
  }
  return (
    <details>
      <summary>{t('daysAsTable', { count: days.length })}</summary>
      <Table
        caption={t('worthHistory')}
        rows={days.slice(0, TABLE_ROWS)}
        rowKey={({ day }) => day}
        columns={[
          { head: t('day'), short: true, cell: ({ day }) => calendarDay(day) },
          { head: t('worth'), number: true, cell: (row) => amount(row, 'value') },
          { head: t('cost'), number: true, cell: (row) => amount(row, 'cost') },
          { head: t('gain'), number: true, cell: (row) => amount(row, 'gain') },
          { head: t('withoutPrice'), number: true, wide: true, cell: (row) => count(row.without_price) },
          { head: t('withoutTrusted'), number: true, cell: (row) => count(row.without_trusted_price) },
        ]}
      />
      {days.length > TABLE_ROWS && <p class="quiet">{t('andMore', { count: days.length - TABLE_ROWS })}</p>}
    </details>
  )
}
