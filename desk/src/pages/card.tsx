// A card of the catalogue: its picture, prices over time with their states, listings on sale, and own watches.
import { useState } from 'preact/hooks'
import { useRoute } from 'preact-iso'
import { Heading } from '#ui/heading.tsx'
import { Picture } from '#ui/picture.tsx'
import { PriceChart, useChartChoice } from '#ui/price-chart.tsx'
import { Await, Empty, Facts } from '#ui/states.tsx'
import { Table } from '#ui/table.tsx'
import type { Item, ItemWatch } from '../../../client/src/api.ts'
import { mayWrite, useData } from '../api.ts'
import { cardOf } from '../listing/card.ts'
import { count, language, lira, t } from '../words.ts'
import { watchesVersion } from '../watches/watch-changes.ts'
import { watchColumns } from '../watches/watch-columns.tsx'
import { ChangeWatchDialog, NewWatchDialog } from '../watches/watch-form.tsx'

const SHOWN_OFFERS = 10

export function CardPage() {
  const id = Number(useRoute().params.id)
  const item = useData(`/items/${id}`)
  return (
    <Await of={item} title={t('card')}>
      {(row) => <CardFacts key={row.id} of={row} />}
    </Await>
  )
}

function CardFacts({ of: item }: { of: Item }) {
  const card = cardOf(item)
  const [isWatching, setWatching] = useState(false)
  const { id, name } = card
  return (
    <>
      <Heading>{name}</Heading>
      <div class="card-facts">
        <Picture item={card} />
        <div>
          <Facts
            brief
            rows={[
              [t('set'), card.set],
              [t('cardNumber'), card.code],
              // One of them repeats the number.
              ...(item.attributes ?? []).filter(({ value }) => value !== card.code).map(({ name: head, value }): [string, string] => [head, value]),
            ]}
          />
          {mayWrite() && (
            <p class="buttons">
              <button type="button" class="main" onClick={() => setWatching(true)}>
                {t('watch')}
              </button>
            </p>
          )}
        </div>
      </div>
      <PriceHistory itemId={id} />
      <Offers itemId={id} />
      <Watches itemId={id} />
      {isWatching && <NewWatchDialog card={{ id, name }} amount={null} onClose={() => setWatching(false)} />}
    </>
  )
}

function PriceHistory({ itemId }: { itemId: number }) {
  const choice = useChartChoice()
  const chart = useData(`/items/${itemId}/price-chart`, { query: choice.query })
  return (
    <section>
      <h2>{t('priceHistory')}</h2>
      <PriceChart of={chart} choice={choice} />
    </section>
  )
}

/** The cheapest listings on sale. */
function Offers({ itemId }: { itemId: number }) {
  const found = useData('/plus/listings', { query: { item_id: itemId, sort_by: 'price_low', with_details: 1, per_page: SHOWN_OFFERS } })
  return (
    <section>
      <h2>{t('offeredNow')}</h2>
      <Await of={found}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty>{t('noneOnSale')}</Empty>
          ) : (
            <Table
              caption={t('offeredNow')}
              rows={rows}
              rowKey={({ id }) => id}
              columns={[
                { head: t('title'), cell: ({ title }) => title },
                { head: t('grade'), cell: ({ grade }) => grade?.label ?? t('notStated') },
                { head: t('spoken'), cell: ({ language: code }) => (code ? language(code) : t('notStated')) },
                { head: t('quantity'), number: true, cell: ({ quantity }) => count(quantity ?? 0) },
                { head: t('price'), number: true, cell: ({ price }) => lira(price) },
              ]}
            />
          )
        }
      </Await>
      {(found.pagination?.total ?? 0) > SHOWN_OFFERS && <p class="quiet">{t('andMore', { count: found.pagination!.total - SHOWN_OFFERS })}</p>}
    </section>
  )
}

function Watches({ itemId }: { itemId: number }) {
  const [edited, edit] = useState<ItemWatch | null>(null)
  const watches = useData('/plus/watches', { query: { item_id: itemId }, version: watchesVersion.value })
  return (
    <section>
      <h2>{t('yourWatches')}</h2>
      <Await of={watches}>
        {(rows) =>
          rows.length === 0 ? (
            <p class="quiet">{t('noWatchesOfCard')}</p>
          ) : (
            <Table caption={t('yourWatches')} rows={rows} rowKey={({ id }) => id} columns={watchColumns(edit)} />
          )
        }
      </Await>
      {edited && <ChangeWatchDialog key={edited.id} of={edited} onClose={() => edit(null)} />}
    </section>
  )
}
