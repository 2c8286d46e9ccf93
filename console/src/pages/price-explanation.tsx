// Explains a price of an item: the rule, every input and its effect, rates and medians.
import { useState } from 'preact/hooks'
import { Await, Facts, Status } from '#ui/states.tsx'
import { Table } from '#ui/table.tsx'
import { TURKISH } from '../../../src/core/problem-texts/turkish.ts'
import type { PricedItem, StoredPriceExplanation } from '../api-types.ts'
import { useData } from '../api.ts'
import { SUMMARIES_IN_ENGLISH, summaryText } from '../../../src/prices/reviews/summary.ts'
import { calendarDay, count, date, locale, moment, rateText, refusalText, t, termText } from '../words.ts'
import { SUMMARIES_IN_TURKISH } from '../words/summaries-tr.ts'
import { priceText } from './prices.ts'

type ItemPrice = PricedItem['prices'][number]

/** Explanation of one of the item's current prices, chosen by the reader. */
export function WhyThisPrice({ itemId, prices }: { itemId: number; prices: ItemPrice[] }) {
  const [chosen, setChosen] = useState(0)
  const price = prices[Math.min(chosen, prices.length - 1)]
  const explained = useData(price ? `/items/${itemId}/prices/explain` : null, { query: { market: price?.market, label: price?.label } })
  if (!price) return null
  return (
    <section aria-labelledby="why">
      <h2 id="why">{t('whyThisPrice')}</h2>
      <label class="choose">
        <span>{t('price')}</span>
        <select value={String(chosen)} onChange={(event) => setChosen(Number(event.currentTarget.value))}>
          {prices.map((each, n) => (
            <option key={`${each.market} ${each.label}`} value={String(n)}>
              {each.label}, {termText('market', each.market)}: {priceText(each.price, each.market)}
            </option>
          ))}
        </select>
      </label>
      <Await of={explained}>{(explanation) => <Explanation of={explanation} />}</Await>
    </section>
  )
}

function Explanation({ of: explanation }: { of: StoredPriceExplanation }) {
  const { market, rule, state, confidence, flags, samples, condition_known: conditionKnown, inputs, rates, medians, held } = explanation
  const show = (value: number) => priceText(value, market)
  const formatAmount = (value: number | null) => (value === null ? null : show(value))
  return (
    <>
      <p>{sentenceOf(explanation)}</p>
      <Facts
        brief
        rows={[
          [t('rule'), rule && termText('priceRule', rule.name)],
          [t('state'), state && <Status code={state} />],
          [t('confidence'), confidence && termText('confidence', confidence)],
          [t('why'), flags.map((flag) => termText('flag', flag)).join(', ')],
          [t('condition'), conditionKnown === false && t('conditionUnknown')],
          [t('samples'), samples === null ? null : count(samples)],
          [t('medianOf', { days: 7 }), formatAmount(medians['7d'])],
          [t('medianOf', { days: 30 }), formatAmount(medians['30d'])],
          [t('medianOf', { days: 90 }), formatAmount(medians['90d'])],
          [t('rates'), rates.map(({ currency, rate, day }) => `${currency} ${rateText(rate)} (${calendarDay(day)})`).join(', ')],
        ]}
      />
      <Table
        caption={t('whyThisPrice')}
        rows={inputs.map((input, n) => ({ ...input, n }))}
        rowKey={(input) => input.n}
        columns={[
          { head: t('input'), cell: (input) => termText(FIGURES.has(input.kind) ? 'figure' : 'inputKind', input.kind) },
          {
            head: t('source'),
            short: true,
            cell: (input) => (
              <span {...(!input.condition_known && { title: t('conditionUnknown') })}>
                {termText('market', input.market)}
                {!input.condition_known && ' *'}
              </span>
            ),
          },
          { head: t('amount'), number: true, cell: (input) => priceText(input.amount, input.market) },
          { head: t('asOf'), short: true, cell: (input) => <span title={moment(input.at)}>{date(input.at)}</span> },
          {
            head: t('import'),
            wide: true,
            cell: (input) =>
              input.import_id === null ? (
                '–'
              ) : (
                <a href={`/console/imports/${input.import_id}`}>
                  #{input.import_id}
                  {input.line !== null && ` ${t('lineOf', { line: String(input.line) })}`}
                </a>
              ),
          },
          { head: t('used'), short: true, cell: (input) => t(input.used ? 'yes' : 'no') },
          { head: t('why'), cell: (input) => (input.comparison ? comparedText(input.comparison, show) : termText('inputReason', input.reason)) },
        ]}
      />
      {held.length > 0 && (
        <ul class="reasons">
          {held.map((price) => (
            <li key={price.id}>
              {t('heldOf', { price: show(price.price), date: date(price.updated_at) })} {refusalText({ ...price, message: price.reason })}
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

/** What was compared, and which price is followed, in the reader's language. */
function sentenceOf(explanation: StoredPriceExplanation): string {
  const style = { market: (code: string) => termText('market', code), day: date }
  return locale.value === 'tr'
    ? summaryText(explanation, SUMMARIES_IN_TURKISH, { ...style, words: TURKISH })
    : summaryText(explanation, SUMMARIES_IN_ENGLISH, style)
}

type Comparison = NonNullable<StoredPriceExplanation['inputs'][number]['comparison']>

/** Comparison with another price, and the usual ratio used for it. */
function comparedText(
  { level, expected, times_off: times, usual_ratio: ratio, learned_ratio: learned, cards }: Comparison,
  show: (value: number) => string,
): string {
  const rounded = (value: number) => Math.round(value * 100) / 100
  const far = t('farFromExpected', { expected: show(expected), times: rounded(times) })
  const usual = t('usualRatio', { ratio: rounded(ratio), cards })
  const ofSet = learned === null ? '' : `; ${t('learnedRatio', { ratio: rounded(learned) })}`
  return `${termText('comparison', level)}: ${far} (${usual}${ofSet})`
}

/** The feed's own figures, which have labels of their own. */
const FIGURES = new Set<string>(['avg_1', 'avg_7', 'avg_30', 'low', 'mid', 'high'])
