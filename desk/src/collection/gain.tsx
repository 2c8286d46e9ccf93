// The gain of a collection: in four moneys, what could not be counted, the records that gained and lost most, and the worth by day.
import { useState } from 'preact/hooks'
import { Empty, Facts, Failure, Loading, Refusal } from '#ui/states.tsx'
import { Table } from '#ui/table.tsx'
import { announce } from '#ui/toasts.tsx'
import { WorthHistory } from '#ui/worth-history.tsx'
import type { CollectionProfitInMoney, ProfitRecord } from '../../../client/src/api.ts'
import { mayWrite, useData, useWrite } from '../api.ts'
import { count, share, t, termText, wholeMonth } from '../words.ts'
import { amountIn, type Money, MoneyChoice, MONEYS } from './moneys.tsx'
import { recordsChanged, recordsVersion } from './record-changes.ts'

const METHODS = ['fifo', 'average'] as const

export function CollectionGain({ collectionId }: { collectionId: number }) {
  const version = recordsVersion.value
  const profit = useData(`/plus/collections/${collectionId}/profit`, { query: { 'moneys[]': [...MONEYS] }, version })
  const history = useData(`/plus/collections/${collectionId}/worth-history`, { version })
  const failed = [profit, history].find(({ error }) => error !== null)
  if (failed) return <Failure error={failed.error!} retry={failed.reload} />
  // All at once, so that nothing moves.
  if (history.data === null || !profit.data?.moneys) return <Loading />
  const profits = Object.fromEntries(profit.data.moneys.map((one) => [one.currency, one])) as Profits
  if (isEmpty(profits.TRY)) return <Empty>{t('noGain')}</Empty>
  return (
    <>
      <section class="spaced">
        <h2>{t('gain')}</h2>
        <MethodChoice collectionId={collectionId} chosen={profits.TRY.method} />
        <Gains of={profits} />
        <Counts of={profits.TRY} />
      </section>
      <Ranking of={profits} collectionId={collectionId} />
      <WorthHistory of={history} />
    </>
  )
}

type Profits = Record<Money, CollectionProfitInMoney>

function isEmpty({ priced, unpriced, disputed, unproven, stale, without_cost: withoutCost, realised, fees }: CollectionProfitInMoney): boolean {
  return [priced, unpriced, disputed, unproven, stale, withoutCost, realised, fees].every((figure) => figure === 0)
}

function MethodChoice({ collectionId, chosen }: { collectionId: number; chosen: CollectionProfitInMoney['method'] }) {
  const { busy, error, write } = useWrite()
  const choose = async (method: CollectionProfitInMoney['method']) => {
    if (method === chosen || !(await write('PATCH', `/plus/collections/${collectionId}`, { method }))) return
    announce(t('methodChanged', { method: termText('method', method) }))
    recordsChanged()
  }
  return (
    <>
      <Refusal error={error} />
      <fieldset class="choices">
        <legend class="hidden">{t('method')}</legend>
        {METHODS.map((method) => (
          <button
            key={method}
            type="button"
            aria-pressed={method === chosen}
            disabled={busy || (!mayWrite() && method !== chosen)}
            onClick={() => void choose(method)}
          >
            {termText('method', method)}
          </button>
        ))}
      </fieldset>
      <p class="quiet">{termText('methodText', chosen)}</p>
    </>
  )
}

function Gains({ of: profits }: { of: Profits }) {
  const rows = MONEYS.map((name) => ({ name, profit: profits[name], isKnown: !isUnconverted(profits[name]) }))
  type Row = (typeof rows)[number]
  const amount =
    (figure: (profit: CollectionProfitInMoney) => number | null) =>
    ({ name, profit, isKnown }: Row) =>
      amountIn(isKnown ? figure(profit) : null, name)
  return (
    <>
      <Table
        caption={t('gain')}
        rows={rows}
        rowKey={({ name }) => name}
        columns={[
          { head: t('currency'), cell: (row) => <MoneyName {...row} /> },
          { head: t('realised'), number: true, cell: amount(({ realised }) => realised) },
          { head: t('unrealised'), number: true, cell: amount(({ unrealised }) => unrealised) },
          { head: t('total'), number: true, cell: amount(({ realised, unrealised }) => realised + (unrealised ?? 0)) },
          { head: t('fees'), number: true, cell: amount(({ fees }) => fees) },
          { head: t('yearlyReturn'), number: true, cell: ({ profit: { xirr } }) => (xirr === null ? '–' : share(xirr)) },
          { head: t('leftOutRecords'), number: true, cell: ({ profit }) => count(profit.without_rate) },
        ]}
      />
      <p class="quiet">{t('gainsText')}</p>
      {rows.some(({ profit }) => profit.without_rate > 0) && <p class="quiet">{t('withoutRateText')}</p>}
    </>
  )
}

/** Whether no amount at all has a rate: sums of nothing are not shown. */
function isUnconverted({ without_rate: withoutRate, cost, value, realised, fees }: CollectionProfitInMoney): boolean {
  return withoutRate > 0 && [cost, value ?? 0, realised, fees].every((amount) => amount === 0)
}

function MoneyName({ name, profit: { cpi_month: month }, isKnown }: { name: Money; profit: CollectionProfitInMoney; isKnown: boolean }) {
  const note = name === 'TRY_REAL' ? (month === null ? t('noIndex') : t('realLiraOf', { month: wholeMonth(month) })) : isKnown ? '' : t('noRate')
  return (
    <>
      {termText('money', name)} <small class="quiet">{note}</small>
    </>
  )
}

/** How many records the gain is based on, and why others are not in it. */
function Counts({ of: profit }: { of: CollectionProfitInMoney }) {
  const basis = profit.basis.map(({ market, value, records }) => `${termText('market', market)}: ${amountIn(value, 'TRY')} (${count(records)})`)
  return (
    <Facts
      rows={[
        [t('pricedRecords'), count(profit.priced)],
        [t('unpricedRecords'), count(profit.unpriced)],
        [t('disputedRecords'), count(profit.disputed)],
        [t('unprovenRecords'), count(profit.unproven)],
        [t('staleRecords'), count(profit.stale)],
        [t('costlessRecords'), count(profit.without_cost)],
        [t('pricesFrom'), basis.join(', ')],
      ]}
    />
  )
}

function Ranking({ of: profits, collectionId }: { of: Profits; collectionId: number }) {
  const [chosen, choose] = useState<Money>('TRY')
  const { best, worst } = profits[chosen]
  const shared = { collectionId, money: chosen }
  return (
    <section>
      <h2>{t('bestAndWorst')}</h2>
      <MoneyChoice chosen={chosen} choose={choose} />
      <div class="panels">
        <Ranked {...shared} title={t('bestRecords')} rows={best} none={t('noBest')} />
        <Ranked {...shared} title={t('worstRecords')} rows={worst} none={t('noWorst')} />
      </div>
    </section>
  )
}

interface RankedProps {
  collectionId: number
  money: Money
  title: string
  rows: ProfitRecord[]
  none: string
}

function Ranked({ collectionId, money, title, rows, none }: RankedProps) {
  return (
    <section class="panel">
      <h3>{title}</h3>
      {rows.length === 0 ? (
        <p class="quiet">{none}</p>
      ) : (
        <Table
          caption={title}
          rows={rows}
          rowKey={({ record_id: id }) => id}
          columns={[
            {
              head: t('item'),
              cell: ({ record_id: id, item_name: name, group_label: grade }) => (
                <>
                  <a href={`/desk/collections/${collectionId}/records/${id}`}>{name}</a> <small class="quiet">{grade}</small>
                </>
              ),
            },
            { head: t('quantity'), number: true, cell: ({ quantity }) => count(quantity) },
            { head: t('gain'), number: true, cell: ({ gain }) => amountIn(gain, money) },
          ]}
        />
      )}
    </section>
  )
}
