// One goal of a collection: how far it is, what the missing cards cost, its cards as a grid with pictures and gaps, and copies to spare.
import { useState } from 'preact/hooks'
import { Picture } from '#ui/picture.tsx'
import { Empty, Failure, Loading, Refusal, Status } from '#ui/states.tsx'
import { Pages, Table } from '#ui/table.tsx'
import { Tile } from '#ui/tile.tsx'
import type { Completion, GoalCard, MissingCard } from '../../../client/src/api.ts'
import { mayWrite, useData } from '../api.ts'
import { count, money, percentage, t, termText } from '../words.ts'
import { NewWatchDialog } from '../watches/watch-form.tsx'
import { WatchGoal } from '../watches/watch-goal.tsx'
import { recordsVersion } from './record-changes.ts'

const CARDS_PER_PAGE = 60
/** Items with the most duplicates that are listed. */
const SHOWN_DUPLICATES = 10

interface GoalViewProps {
  collectionId: number
  /** set, query, rule and language, as the service reads them */
  chosen: Record<string, string>
  /** whether owned cards are shown beside the missing ones */
  withOwned: boolean
  page: number
  /** address of a page of the cards */
  link: (page: number) => string
}

export function GoalView({ collectionId, chosen, withOwned, page, link }: GoalViewProps) {
  const { data, error, loading, pagination, reload } = useData(`/plus/collections/${collectionId}/completion`, {
    query: { ...chosen, with_owned: withOwned ? 1 : 0, page, per_page: CARDS_PER_PAGE },
    version: recordsVersion.value,
  })
  const goal = data === null || Array.isArray(data) ? null : data
  // What is entered above is not valid yet, or selects too much: said beside the last result.
  const isRefused = (error?.details.length ?? 0) > 0
  if (error && !isRefused) return <Failure error={error} retry={reload} />
  return (
    <>
      {isRefused && <Refusal error={error} />}
      {goal === null && !error && <Loading />}
      {goal && (
        <div aria-busy={loading}>
          <GoalTiles of={goal} />
          {goal.of > 0 && chosen.category_id && !chosen.query && (
            <WatchGoal collectionId={collectionId} categoryId={Number(chosen.category_id)} goal={goal.goal} language={goal.language} />
          )}
          {goal.of === 0 ? <Empty>{t('emptyGoal')}</Empty> : <Cards of={goal} />}
          {pagination && <Pages of={pagination} link={link} />}
          <Duplicates of={goal.duplicates} />
        </div>
      )}
    </>
  )
}

function GoalTiles({ of: { owned, of, percent, cost_to_finish: cost, duplicates } }: { of: Completion }) {
  const { market, listings } = cost
  return (
    <section class="tiles" aria-label={t('goal')}>
      <Tile label={t('ownedCards')} value={t('ownedOf', { owned, of })} waits={false}>
        {percent !== null && percentage(percent)}
      </Tile>
      <Tile label={t('costAtMarket')} value={sums(market.currencies)} waits={false}>
        {market.unpriced > 0 && t('missingUnpriced', { count: market.unpriced })}
      </Tile>
      <Tile label={t('costOnSale')} value={listings.offered > 0 ? money(listings.amount, listings.currency) : '–'} waits={false}>
        {of > owned && t('missingOffered', { offered: listings.offered, count: of - owned })}
      </Tile>
      <Tile label={t('duplicates')} value={duplicates.copies} waits={false}>
        {duplicates.copies > 0 && sums(duplicates.currencies)}
      </Tile>
    </section>
  )
}

/** Sums of several currencies, which are never added up. */
function sums(currencies: readonly { currency: string; amount: number }[]): string {
  return currencies.map(({ currency, amount }) => money(amount, currency)).join(' + ') || '–'
}

interface ShownCard extends Pick<GoalCard, 'item_id' | 'name' | 'number' | 'finish' | 'image'> {
  copies: number
  /** null for an owned card */
  missing: MissingCard | null
}

/** In the order of the response: all cards of the page, or only the missing ones. */
function cardsOf({ cards, missing }: Completion): ShownCard[] {
  const byId = new Map(missing.map((card) => [card.item_id, card]))
  if (cards) return cards.map((card) => ({ ...card, missing: byId.get(card.item_id) ?? null }))
  return missing.map((card) => ({ ...card, copies: 0, missing: card }))
}

function Cards({ of: goal }: { of: Completion }) {
  const [watched, watch] = useState<MissingCard | null>(null)
  const cards = cardsOf(goal)
  if (cards.length === 0) return <Empty>{goal.owned === goal.of ? t('goalReached') : t('noSuchPage')}</Empty>
  return (
    <>
      <ul class="goal-cards" aria-label={t('cardsOfGoal')}>
        {cards.map((card) => (
          <li key={card.item_id} class={card.missing ? 'missing' : undefined}>
            <Picture item={{ name: card.name, images: card.image ? [{ url: card.image, order: 0 }] : [] }} small />
            <a href={`/desk/cards/${card.item_id}`}>{card.name}</a>
            <small class="quiet">{[card.number, card.finish].filter(Boolean).join(' · ')}</small>
            {card.missing ? <Gap of={card.missing} onWatch={watch} /> : <span class="owned">{t('ownedCopies', { count: card.copies })}</span>}
          </li>
        ))}
      </ul>
      {watched && <NewWatchDialog card={{ id: watched.item_id, name: watched.name }} amount={amountFor(watched)} onClose={() => watch(null)} />}
    </>
  )
}

/** What a watch for an offer starts with: a listing's price in lira, otherwise a market price in lira. */
function amountFor({ offer, price }: MissingCard): number | null {
  return offer?.amount ?? (price?.currency === 'TRY' ? price.amount : null)
}

function Gap({ of: card, onWatch }: { of: MissingCard; onWatch: (card: MissingCard) => void }) {
  const { name, price, offer } = card
  return (
    <>
      <span>
        {price ? (
          <>
            {money(price.amount, price.currency)} <small class="quiet">{termText('market', price.market)}</small> <Status code={price.state} />
          </>
        ) : (
          <span class="quiet">{termText('valueMissing', 'no_price')}</span>
        )}
      </span>
      <small class="quiet">{offer ? t('onSaleFor', { price: money(offer.amount, offer.currency), label: offer.label }) : t('notOnSale')}</small>
      {mayWrite() && (
        <button type="button" aria-label={`${t('watch')}: ${name}`} onClick={() => onWatch(card)}>
          {t('watch')}
        </button>
      )}
    </>
  )
}

function Duplicates({ of: { items, copies, currencies, unpriced, most } }: { of: Completion['duplicates'] }) {
  if (copies === 0) return null
  const worth = t('duplicatesText', { copies, items, worth: sums(currencies) })
  return (
    <section>
      <h3>{t('duplicates')}</h3>
      <p class="quiet">
        {worth} {unpriced > 0 && t('duplicatesUnpriced', { count: unpriced })}
      </p>
      <Table
        caption={t('duplicates')}
        rows={most.slice(0, SHOWN_DUPLICATES)}
        rowKey={({ item_id: id }) => id}
        columns={[
          {
            head: t('card'),
            cell: ({ item_id: id, name, number }) => (
              <>
                <a href={`/desk/cards/${id}`}>{name}</a> <small class="quiet">{number}</small>
              </>
            ),
          },
          { head: t('toSpare'), number: true, cell: (row) => count(row.copies) },
        ]}
      />
      {items > SHOWN_DUPLICATES && <p class="quiet">{t('andMore', { count: items - SHOWN_DUPLICATES })}</p>}
    </section>
  )
}
