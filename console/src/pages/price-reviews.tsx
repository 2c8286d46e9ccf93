// Prices under review by item and cause, each next to the other prices of the item; decided by keyboard, one by one, by group, or all that match.
import { useState } from 'preact/hooks'
import { newKey } from '#ui/api.ts'
import type { PriceDecision, PriceReview, ReviewedPrice } from '../api-types.ts'
import { pathsOperatorV1PriceReviewsGetParametersQueryCauseValues as CAUSES, priceReviewStateValues as STATES } from '../api-values.ts'
import { asApiError } from '#ui/data.ts'
import type { Body } from '#ui/operations.ts'
import { isAllowed, type OperatorApi, request, useData, writeNow } from '../api.ts'
import { confirm } from '#ui/dialog.tsx'
import { marketOptions } from '../ui/market-options.ts'
import { PriceSteps } from '../ui/price-steps.tsx'
import { type Act, ActButtons, QueuePage, useDecisions, useSequentialWrites } from '../ui/queue.tsx'
import { categories, imports, items } from '../ui/sources.ts'
import { Facts, Status } from '#ui/states.tsx'
import { useFilters } from '#ui/table.tsx'
import { announce } from '#ui/toasts.tsx'
import { PermittedButton } from '../ui/permitted-button.tsx'
import { Picture } from '../ui/picture.tsx'
import { ago, count, date, moment, refusalText, sentence, t, termText } from '../words.ts'
import { ReviewTabs, undoDecision } from './price-decisions.tsx'
import { priceText } from './prices.ts'

const SHOWN = 25
/** Prices that a digit key decides. */
const DIGITS = 9

type How = PriceDecision['decision']
type Decision = Body<OperatorApi, 'POST', '/price-decisions'> & { decision: How }

/** Possible decisions for prices in each state. */
const DECIDABLE = {
  held: ['accept', 'discard'],
  disputed: ['confirm', 'withdraw'],
  stale: ['confirm', 'withdraw'],
} as const satisfies Record<PriceReview['state'], readonly How[]>

export function PriceReviewsPage() {
  const filters = useFilters([
    { name: 'state', label: t('state'), options: STATES.map((code) => ({ value: code, text: termText('status', code) })) },
    { name: 'cause', label: t('why'), options: CAUSES.map((code) => ({ value: code, text: causeName(code) })) },
    { name: 'market', label: t('source'), options: marketOptions() },
    { name: 'game', label: t('game') },
    { name: 'category_id', label: t('set'), picker: categories },
    { name: 'item_id', label: t('item'), picker: items },
    { name: 'import_id', label: t('import'), picker: imports },
    {
      name: 'sort_by',
      label: t('largestFirst'),
      options: ['times_off', 'value'].map((code) => ({ value: code, text: termText('reviewSort', code) })),
      always: true,
    },
  ])
  const { values, page } = filters
  const writes = useSequentialWrites()
  const loaded = useData('/price-reviews', { query: { ...values, page, per_page: SHOWN }, paused: writes.applying > 0 })
  // The remainder of decided groups, such as the other side of a dispute, returns with the next response.
  const queue = useDecisions(loaded, writes, keyOf, ({ item }) => item.name)
  const { current } = queue
  const [last, setLast] = useState<{ id: number; text: string } | null>(null)

  const decide = (review: PriceReview, body: Decision) =>
    queue.decide(review, async () => {
      const { data } = await request('POST', '/price-decisions', { json: body, idempotencyKey: newKey() })
      const text = t(`priceDone.${body.decision}`, { name: review.item.name, count: data.prices })
      setLast({ id: data.id, text })
      return text
    })
  const undo = () => {
    if (!last) return
    setLast(null)
    void writes.apply(async () => void (await undoDecision(last.id)))
  }
  const decideAll = async (how: How) => {
    const filter = filterOf(values)
    const found = await request('GET', '/price-reviews/count', { query: filter }).catch((error: unknown) => {
      announce(sentence(asApiError(error)), 'bad')
      return null
    })
    if (!found) return
    const { prices } = found.data
    if (prices === 0) return announce(t('nothingMatches'))
    const title = t(`decideAll.${how}`, { count: prices })
    if (!(await confirm({ title, text: t('decideAllUndo'), action: `${termText('decide', how)} (${count(prices)})` }))) return
    void writes.apply(async () => {
      const done = await writeNow('POST', '/price-decisions', { decision: how, filter: bodyOf(filter), expected: prices })
      if (!done) return
      const text = t(`priceDoneAll.${how}`, { count: done.data.prices })
      setLast({ id: done.data.id, text })
      announce(text)
    })
  }
  queue.onKey((event) => {
    if (!isAllowed('catalogue')) return
    const digit = /^Digit([1-9])$/.exec(event.code)?.[1]
    const side = digit && current ? decidableOf(current)[Number(digit) - 1] : undefined
    if (side) return () => decide(current!, singleDecision(event.shiftKey ? 'withdraw' : 'confirm', current!, side))
    if (event.key === 'u') return undo
    return current && actsOf(current, (body) => decide(current, body)).find(({ key }) => key === event.key)?.run
  })
  const state = values.state as PriceReview['state'] | ''

  const tools = state
    ? DECIDABLE[state].map((how) => (
        <PermittedButton
          need="catalogue"
          key={how}
          class={how === 'accept' || how === 'confirm' ? undefined : 'danger'}
          onClick={() => void decideAll(how)}
        >
          {t(`allThatMatch.${how}`)}
        </PermittedButton>
      ))
    : null
  return (
    <QueuePage
      of={queue}
      filters={filters}
      title={t('priceReviews')}
      need="catalogue"
      tabs={<ReviewTabs current="reviews" />}
      tools={tools}
      keys={t('reviewKeys')}
      last={last && { text: last.text, undo }}
      label={t('pricesInQuestion')}
      empty={t('noReviews')}
      line={(row) => (
        <>
          <span class="with-picture">
            <Picture item={row.item} small />
            <span>
              {row.item.name} <span class="quiet">{row.item.code}</span>
            </span>
          </span>
          <small>
            {termText('status', row.state)}
            {row.cause && ` · ${causeText(row.cause, row.state)}`}
            {row.times_off !== null && ` · ${t('timesOff', { times: round(row.times_off) })}`}
          </small>
        </>
      )}
    >
      {(review) => <Group key={keyOf(review)} review={review} onDecide={(body) => decide(review, body)} />}
    </QueuePage>
  )
}

function keyOf({ item, state, cause }: PriceReview): string {
  return `${item.id} ${state} ${cause}`
}

function round(times: number): number {
  return Math.round(times * 10) / 10
}

/** The rule that holds prices, or a flag of published ones; whichever has a text if the state is unknown. */
function causeText(code: string, state?: PriceReview['state']): string {
  const flag = termText('flag', code)
  return state === 'held' || flag === code ? termText('rule', code) : flag
}

/** In the list of all causes, those that hold a price are marked, because a flag can have the same text. */
function causeName(code: string): string {
  const isRule = termText('flag', code) === code
  return isRule ? `${termText('status', 'held')}: ${causeText(code)}` : causeText(code)
}

type Values = Record<string, string>

/** The effective filters, without the sort order. */
function filterOf({ sort_by: _sort, ...values }: Values): Values {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''))
}

function bodyOf(filter: Values): NonNullable<Decision['filter']> {
  return Object.fromEntries(Object.entries(filter).map(([name, value]) => [name, name.endsWith('_id') ? Number(value) : value]))
}

/** The prices under review in a group. */
function decidableOf(review: PriceReview): ReviewedPrice[] {
  return review.prices.filter((price) => price.state === review.state)
}

function singleDecision(how: How, { item }: PriceReview, { held_id: held, market, label, price }: ReviewedPrice): Decision {
  if (held !== null) return { decision: how, held_ids: [held] }
  return { decision: how, prices: [{ item_id: item.id, market, label, price }] as Decision['prices'] }
}

/** A decision about all prices under review in a group. */
function groupDecision(how: How, review: PriceReview): Decision {
  const all = decidableOf(review).map((price) => singleDecision(how, review, price))
  return {
    decision: how,
    ...(review.state === 'held' ? { held_ids: all.flatMap((each) => each.held_ids ?? []) } : { prices: all.flatMap((each) => each.prices ?? []) }),
  }
}

/** The decisions about all prices under review in a group. */
function actsOf(review: PriceReview, onDecide: (body: Decision) => void): Act[] {
  const { length } = decidableOf(review)
  const run = (how: How) => () => onDecide(groupDecision(how, review))
  if (review.state !== 'held') return [{ key: 'w', text: t('withdrawCount', { count: length }), class: 'danger', run: run('withdraw') }]
  return [
    { key: 'a', text: t('acceptCount', { count: length }), class: 'main', run: run('accept') },
    { key: 'd', text: t('discardCount', { count: length }), class: 'danger', run: run('discard') },
  ]
}

interface GroupProps {
  review: PriceReview
  onDecide: (body: Decision) => void
}

function Group({ review, onDecide }: GroupProps) {
  const { item, state, cause } = review
  const sides = [...Map.groupBy(review.prices, ({ label, market }) => `${label} ${market}`).values()]
  return (
    <>
      <header class="reviewed">
        <Picture item={item} />
        <div>
          <h2>
            <a href={`/console/catalogue/items/${item.id}`}>{item.name}</a> <span class="quiet">{item.code}</span>
          </h2>
          <p class="quiet">{[item.category.name, item.finish].filter(Boolean).join(' · ')}</p>
          <p>
            <Status code={state} /> {cause && causeText(cause, state)}{' '}
            {review.times_off !== null && <span class="quiet">{t('timesOff', { times: round(review.times_off) })}</span>}
          </p>
          <div class="buttons">
            <ActButtons need="catalogue" acts={actsOf(review, onDecide)} />
          </div>
        </div>
      </header>
      <div class="sides">
        {sides.map((prices) => (
          <Side key={`${prices[0]!.label} ${prices[0]!.market}`} review={review} prices={prices} onDecide={onDecide} />
        ))}
      </div>
    </>
  )
}

/** Prices of one source and label: published, held, and the history. */
function Side({ review, prices, onDecide }: GroupProps & { prices: ReviewedPrice[] }) {
  const { market, label } = prices[0]!
  const points = useData(`/items/${review.item.id}/price-history`, { query: { market, label } })
  const show = (value: number) => priceText(value, market)
  const decidable = decidableOf(review)
  const marks = prices.flatMap(({ state, price, updated_at: at }) =>
    state === 'trusted' || state === 'unproven' ? [] : [{ state, price, updated_at: at }],
  )
  return (
    <section aria-label={`${termText('market', market)} ${label}`}>
      <h3>
        {termText('market', market)} <span class="quiet">{label}</span>
      </h3>
      {prices.map((price) => {
        const digit = decidable.indexOf(price) + 1
        const name = `${termText('market', market)} ${label} ${show(price.price)}`
        return (
          <div key={price.held_id ?? 'published'} class="stated">
            <p>
              <strong>{show(price.price)}</strong> <Status code={price.state} />{' '}
              {price.confidence && (
                <span class="quiet">
                  {t('confidence')}: {termText('confidence', price.confidence)}
                </span>
              )}
            </p>
            <Evidence of={price} show={show} />
            {digit > 0 && (decidable.length > 1 || review.state !== 'held') && (
              <div class="buttons tight">
                {DECIDABLE[review.state].map((how, n) => (
                  <PermittedButton
                    need="catalogue"
                    key={how}
                    class={n === 0 ? undefined : 'danger'}
                    aria-label={`${termText('decide', how)}: ${name}`}
                    onClick={() => onDecide(singleDecision(how, review, price))}
                  >
                    {termText('decide', how)} {review.state !== 'held' && digit <= DIGITS && <kbd>{n === 0 ? digit : `⇧${digit}`}</kbd>}
                  </PermittedButton>
                ))}
              </div>
            )}
          </div>
        )
      })}
      {points.data && <PriceSteps points={points.data} marks={marks} show={show} />}
    </section>
  )
}

/** The evidence for and against a price, in words. */
function Evidence({ of: price, show }: { of: ReviewedPrice; show: (value: number) => string }) {
  const figures = (['avg_1', 'avg_7', 'avg_30', 'low', 'mid', 'high'] as const).flatMap((name): [string, string][] => {
    const value = price[name]
    return value === null ? [] : [[termText('figure', name), show(value)]]
  })
  return (
    <>
      {(price.rule !== null || price.flags.length > 0) && (
        <ul class="reasons">
          {price.rule !== null && (
            <li>
              {termText('rule', price.rule)}: {refusalText({ rule: price.rule, params: price.params, message: price.reason ?? '' })}
            </li>
          )}
          {price.flags.map((flag) => (
            <li key={flag}>
              {termText('flag', flag)}
              {flag === 'identical_figures' &&
                price.identical_to.map((other, n) => (
                  <span key={other.id}>
                    {n === 0 ? ': ' : ', '}
                    <a href={`/console/catalogue/items/${other.id}`}>
                      {other.name} {other.code}
                    </a>
                  </span>
                ))}
            </li>
          ))}
        </ul>
      )}
      {(figures.length > 0 || price.samples !== null) && (
        <Facts rows={[...figures, ...(price.samples === null ? [] : [[t('samples'), count(price.samples)] as [string, string]])]} />
      )}
      <p class="quiet">
        <span title={moment(price.updated_at)}>{t('setOn', { date: date(price.updated_at) })}</span>
        {price.confirmed_at && <span title={moment(price.confirmed_at)}> · {t('confirmedAgo', { ago: ago(price.confirmed_at) })}</span>} ·{' '}
        <a href={`/console/imports/${price.import_id}`}>
          {t('import')} #{price.import_id}
        </a>
        {price.line !== null && ` · ${t('lineOf', { line: String(price.line) })}`}
      </p>
    </>
  )
}
