// Prices of an item over time, by source and in one currency, with sales and states as marks, and the same data as a table.
import { signal } from '@preact/signals'
import { useMemo, useState } from 'preact/hooks'
import type { PriceChart as ChartData } from '../client/src/api.ts'
import type { Loaded } from './data.ts'
import { LazyStepChart } from './lazy-step-chart.tsx'
import { toggle } from './list-parts.ts'
import { shapePath } from './mark-shapes.ts'
import { storedPreference, storePreference } from './preferences.ts'
import { ChartTable } from './price-chart-table.tsx'
import { type Drawing, drawingOf, MARK_SHAPES, type MarkKind, rowsOf, styleOf } from './price-lines.ts'
import { Empty, Failure } from './states.tsx'
import { date, money, t, termText } from './words.ts'

const RANGES = ['1m', '3m', '1y', 'all'] as const
type Range = (typeof RANGES)[number]
type Market = ChartData['series'][number]['market']

const STORAGE_KEY = 'mintmark-chart-currency'
/** The reader's currency, for the charts of all items. */
const chosenCurrency = signal(storedPreference(STORAGE_KEY) ?? undefined)

function chooseCurrency(currency: string): void {
  chosenCurrency.value = currency
  storePreference(STORAGE_KEY, currency)
}

interface ChartChoice {
  /** parameters of the request for the chart */
  query: { label?: string; currency?: string; range: Range }
  chooseLabel: (label: string) => void
  chooseRange: (range: Range) => void
}

/**
 * What the reader has chosen to see: the parameters with which a page reads the chart.
 * @param first label to start with; default: chosen by the service
 */
export function useChartChoice(first?: string): ChartChoice {
  const [label, chooseLabel] = useState(first)
  const [range, chooseRange] = useState<Range>('1y')
  const currency = chosenCurrency.value
  return { query: { ...(label !== undefined && { label }), ...(currency !== undefined && { currency }), range }, chooseLabel, chooseRange }
}

interface PriceChartProps {
  of: Loaded<ChartData>
  choice: ChartChoice
}

/** Has the height of a chart from the start, so that nothing below it moves when the data arrive. */
export function PriceChart({ of: { data, error, loading, reload }, choice }: PriceChartProps) {
  if (!data && error) return <Failure error={error} retry={reload} />
  const isEmpty = data?.labels.length === 0 && data.series.length === 0 && (data.sales_total ?? 0) === 0
  if (isEmpty) return <Empty>{t('noPriceHistory')}</Empty>
  return (
    <div class="price-chart" aria-busy={loading}>
      <Controls data={data} choice={choice} />
      {data ? <Sources data={data} /> : <div class="chart" />}
      {error && <Failure error={error} retry={reload} />}
    </div>
  )
}

function Controls({ data, choice: { query, chooseLabel, chooseRange } }: { data: ChartData | null; choice: ChartChoice }) {
  const label = query.label ?? data?.label ?? ''
  const currency = query.currency ?? data?.currency ?? ''
  return (
    <div class="chart-controls">
      <Choice label={t('label')} value={label} options={data?.labels ?? []} choose={chooseLabel} />
      <Choice label={t('currency')} value={currency} options={data?.currencies ?? []} choose={chooseCurrency} />
      <fieldset class="choices">
        <legend class="hidden">{t('timeRange')}</legend>
        {RANGES.map((range) => (
          <button key={range} type="button" aria-pressed={range === query.range} onClick={() => chooseRange(range)}>
            {termText('range', range)}
          </button>
        ))}
      </fieldset>
    </div>
  )
}

interface ChoiceProps {
  label: string
  value: string
  options: string[]
  choose: (value: string) => void
}

function Choice({ label, value, options, choose }: ChoiceProps) {
  return (
    <label>
      {label}
      <select value={value} onChange={(event) => choose(event.currentTarget.value)}>
        {[...new Set([...options, value])].map((option) => (
          <option key={option} value={option}>
            {option}
          </option>
        ))}
      </select>
    </label>
  )
}

function Sources({ data }: { data: ChartData }) {
  const [hidden, setHidden] = useState<Market[]>([])
  const [at, setAt] = useState<number | null>(null)
  const { label, currency, series, sales, sales_total: soldTotal } = data
  const drawing = useMemo(() => drawingOf(data, hidden), [data, hidden])
  const rows = useMemo(() => rowsOf(data), [data])
  const unconverted = rows.filter(({ converted }) => converted === null).length
  return (
    <>
      <Legend
        of={drawing}
        markets={series.map(({ market }) => market)}
        at={at}
        currency={currency}
        onToggle={(market) => setHidden(toggle(hidden, market))}
      />
      <LazyStepChart label={t('priceChartOf', { label, currency })} {...drawing} currency={currency} onPoint={setAt} />
      {drawing.kinds.length > 0 && <MarkKey kinds={drawing.kinds} />}
      {unconverted > 0 && <p class="quiet">{t('notConverted', { count: unconverted, currency })}</p>}
      {soldTotal != null && sales !== null && soldTotal > sales.length && (
        <p class="quiet">{t('latestSales', { count: sales.length, total: soldTotal })}</p>
      )}
      <ChartTable rows={rows} label={label} currency={currency} />
    </>
  )
}

interface LegendProps {
  of: Drawing
  markets: Market[]
  /** index of the time under the pointer; null for the latest prices */
  at: number | null
  currency: string
  onToggle: (market: Market) => void
}

/** The sources with their latest price, or that under the pointer; a click hides the line of a source. */
function Legend({ of: { columns, lines, now }, markets, at, currency, onToggle }: LegendProps) {
  // Until the chart is drawn again, the index is that of its previous data.
  const index = at !== null && at < columns[0].length ? at : now
  const priceOf = (market: Market) => {
    const column = lines.get(market)
    const value = column === undefined ? null : columns[column]![index]
    return value == null ? '–' : money(value, currency)
  }
  return (
    <fieldset class="choices chart-legend">
      <legend class="hidden">{t('sources')}</legend>
      {markets.map((market) => (
        <button key={market} type="button" aria-pressed={lines.has(market)} data-source={market} onClick={() => onToggle(market)}>
          <LineSwatch market={market} />
          {termText('market', market)} <span class="amount">{priceOf(market)}</span>
        </button>
      ))}
      <span class="quiet">{date(new Date(columns[0][index]! * 1000).toISOString())}</span>
    </fieldset>
  )
}

function LineSwatch({ market }: { market: Market }) {
  const { colour, dash } = styleOf(market)
  return (
    <svg class="line-swatch" viewBox="0 0 30 6" aria-hidden="true">
      <path d="M0 3h30" stroke-width="3" stroke-dasharray={dash.join(' ')} style={{ stroke: `var(${colour})` }} />
    </svg>
  )
}

function MarkKey({ kinds }: { kinds: MarkKind[] }) {
  return (
    <p class="mark-key quiet">
      {kinds.map((kind) => (
        <span key={kind}>
          <svg class="mark-swatch" viewBox="-1 -1 12 12" aria-hidden="true">
            <path d={shapePath[MARK_SHAPES[kind]]} fill={kind === 'held' ? 'none' : 'currentcolor'} stroke="currentcolor" />
          </svg>
          {kind === 'sale' ? t('sale') : termText('status', kind)}
        </span>
      ))}
    </p>
  )
}
