// Prices under review by item and cause, each next to the other prices of the item; decided by keyboard, one by one, by group, or all that match.
import { useEffect, useState } from 'preact/hooks'
import { newKey } from '#ui/api.ts'
import {
  type PriceDecision,
  type PriceReview,
  pathsOperatorV1PriceReviewsGetParametersQueryCauseValues as CAUSES,
  priceReviewStateValues as STATES,
  type ReviewedPrice,
} from '../api-types.ts'
import { asApiError } from '#ui/data.ts'
import type { Body } from '#ui/operations.ts'
import { isAllowed, type OperatorApi, request, useData, writeNow } from '../api.ts'
import { confirm } from '#ui/dialog.tsx'
import { Heading } from '#ui/heading.tsx'
import { marketOptions } from '../ui/market-options.ts'
import { PriceSteps } from '../ui/price-steps.tsx'
import { useSequentialWrites, useQueue } from '../ui/queue.ts'
import { categories, imports, items } from '../ui/sources.ts'
import { Empty, Facts, Failure, Status, Loading } from '#ui/states.tsx'
import { Pages, useFilters } from '#ui/table.tsx'
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
  const { values, page, filtered, bar, link } = useFilters([
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
  const { applying, apply } = useSequentialWrites()
  const queue = useData('/price-reviews', { query: { ...values, page, per_page: SHOWN }, paused: applying > 0 })
  /** decided on this page; the loaded queue may still contain them */
  const [decided, setDecided] = useState<string[]>([])
  const [last, setLast] = useState<{ id: number; text: string } | null>(null)
  // The remainder of decided groups, such as the other side of a dispute, returns with the next response.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a new response counts
  useEffect(() => setDecided([]), [queue.data])
  const rows = (queue.data ?? []).filter((row) => !decided.includes(keyOf(row)))
  const { whole, list, current, show, onKey } = useQueue(rows, keyOf)

  /** The next group is displayed at once; decisions are applied one after another. */
  const decide = (review: PriceReview, body: Decision) => {
    setDecided((earlier) => [...earlier, keyOf(review)])
    void apply(async () => {
      try {
        const { data } = await request('POST', '/price-decisions', { json: body, idempotencyKey: newKey() })
        const text = t(`priceDone.${body.decision}`, { name: review.item.name, count: data.prices })
        setLast({ id: data.id, text })
        announce(text)
      } catch (error) {
        announce(`${review.item.name}: ${sentence(asApiError(error))}`, 'bad')
      }
    })
  }
  const undo = () => {
    if (!last) return
    setLast(null)
    void apply(async () => void (await undoDecision(last.id)))
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
    void apply(async () => {
      const done = await writeNow('POST', '/price-decisions', { decision: how, filter: bodyOf(filter), expected: prices })
      if (!done) return
      const text = t(`priceDoneAll.${how}`, { count: done.data.prices })
      setLast({ id: done.data.id, text })
      announce(text)
    })
  }
  onKey((event) => {
    if (!isAllowed('catalogue')) return
    const digit = /^Digit([1-9])$/.exec(event.code)?.[1]
    const side = digit && current ? decidableOf(current)[Number(digit) - 1] : undefined
    if (side) return () => decide(current!, singleDecision(event.shiftKey ? 'withdraw' : 'confirm', current!, side))
    const act: Record<string, () => void> = {
      u: undo,
      ...(current?.state === 'held' && {
        a: () => decide(current, groupDecision('accept', current)),
        d: () => decide(current, groupDecision('discard', current)),
      }),
      ...(current && current.state !== 'held' && { w: () => decide(current, groupDecision('withdraw', current)) }),
    }
    return act[event.key]
  })
  const state = values.state as PriceReview['state'] | ''

  return (
    <div ref={whole}>
      <Heading>
        {t('priceReviews')} {queue.pagination && <span class="quiet">{count(queue.pagination.total)}</span>}
      </Heading>
      <ReviewTabs current="reviews" />
      <div class="toolbar">
        {bar}
        {state && (
          <div class="actions">
            {DECIDABLE[state].map((how) => (
              <PermittedButton
                need="catalogue"
                key={how}
                class={how === 'accept' || how === 'confirm' ? undefined : 'danger'}
                onClick={() => void decideAll(how)}
              >
                {t(`allThatMatch.${how}`)}
              </PermittedButton>
            ))}
          </div>
        )}
      </div>
      {isAllowed('catalogue') && <p class="quiet keys">{t('reviewKeys')}</p>}
      <p class="quiet keys" role="status">
        {applying > 0 && t('decisionsApplying', { count: applying })}
      </p>
      {last && (
        <p class="last">
          {last.text}{' '}
          <button type="button" aria-keyshortcuts="u" onClick={undo}>
            {t('undo')} <kbd>U</kbd>
          </button>
        </p>
      )}
      {queue.error ? (
        <Failure error={queue.error} retry={queue.reload} />
      ) : !queue.data || (rows.length === 0 && queue.loading) ? (
        <Loading />
      ) : !current ? (
        <Empty>{filtered ? t('nothingMatches') : t('noReviews')}</Empty>
      ) : (
        <div class="queue">
          <div class="rows">
            <ul ref={list} aria-label={t('pricesInQuestion')}>
              {rows.map((row, index) => (
                <li key={keyOf(row)} aria-current={row === current ? 'true' : undefined}>
                  <button type="button" class="plain" onClick={() => show(index)}>
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
                  </button>
                </li>
              ))}
            </ul>
          </div>
          <Group key={keyOf(current)} review={current} onDecide={(body) => decide(current, body)} />
        </div>
      )}
      {queue.pagination && <Pages of={queue.pagination} link={link} />}
    </div>
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

interface GroupProps {
  review: PriceReview
  onDecide: (body: Decision) => void
}

function Group({ review, onDecide }: GroupProps) {
  const { item, state, cause } = review
  const inQuestion = decidableOf(review)
  const sides = [...Map.groupBy(review.prices, ({ label, market }) => `${label} ${market}`).values()]
  return (
    <article aria-label={item.name} aria-live="polite">
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
            {state === 'held' ? (
              <>
                <PermittedButton need="catalogue" class="main" aria-keyshortcuts="a" onClick={() => onDecide(groupDecision('accept', review))}>
                  {t('acceptCount', { count: inQuestion.length })} <kbd>A</kbd>
                </PermittedButton>
                <PermittedButton need="catalogue" class="danger" aria-keyshortcuts="d" onClick={() => onDecide(groupDecision('discard', review))}>
                  {t('discardCount', { count: inQuestion.length })} <kbd>D</kbd>
                </PermittedButton>
              </>
            ) : (
              <PermittedButton need="catalogue" class="danger" aria-keyshortcuts="w" onClick={() => onDecide(groupDecision('withdraw', review))}>
                {t('withdrawCount', { count: inQuestion.length })} <kbd>W</kbd>
              </PermittedButton>
            )}
          </div>
        </div>
      </header>
      <div class="sides">
        {sides.map((prices) => (
          <Side key={`${prices[0]!.label} ${prices[0]!.market}`} review={review} prices={prices} onDecide={onDecide} />
        ))}
      </div>
    </article>
  )
}

/** Prices of one source and label: published, held, and the history. */
function Side({ review, prices, onDecide }: GroupProps & { prices: ReviewedPrice[] }) {
  const { market, label } = prices[0]!
  const points = useData(`/items/${review.item.id}/price-history`, { query: { market, label } })
  const show = (value: number) => priceText(value, market)
  const decidable = decidableOf(review)
  const marks = prices.flatMap(({ state, price, updated_at: at }) => (state === 'trusted' ? [] : [{ state, price, updated_at: at }]))
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
