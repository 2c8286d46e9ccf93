// One item: its data, price history by source and label, current prices, latest sales and listings.
import { useState } from 'preact/hooks'
import { useLocation, useRoute } from 'preact-iso'
import { type Loaded, useVersion } from '#ui/data.ts'
import { Heading } from '#ui/heading.tsx'
import { PriceChart, useChartChoice } from '#ui/price-chart.tsx'
import { Await, Empty, Facts, Status } from '#ui/states.tsx'
import { Table } from '#ui/table.tsx'
import { useData } from '../api.ts'
import type { HeldPrice, PricedItem } from '../api-types.ts'
import { Grade } from '../ui/grade.tsx'
import { PermittedButton } from '../ui/permitted-button.tsx'
import { Picture } from '../ui/picture.tsx'
import { ago, count, date, lira, moment, refusalText, t, termText } from '../words.ts'
import { ItemForm } from './item-form.tsx'
import { ItemMerges, MergeForm } from './item-merges.tsx'
import { PriceForm } from './price-form.tsx'
import { WhyThisPrice } from './price-explanation.tsx'
import { priceText } from './prices.ts'

type ItemPrice = PricedItem['prices'][number]

export function ItemPage() {
  const id = Number(useRoute().params.id)
  const item = useData(`/items/${id}`)
  const [editing, setEditing] = useState(false)
  const [merging, setMerging] = useState(false)
  const { route } = useLocation()
  return (
    <>
      <p class="trail">
        <a href="/console/catalogue">{t('catalogue')}</a>
        {item.data && <a href={`/console/catalogue?category_id=${item.data.category_id}`}>{item.data.category.name}</a>}
      </p>
      <Await of={item} title={t('item')}>
        {(row) => (
          <>
            <div class="head">
              <Heading>
                {row.name} {row.code && <span class="quiet">{row.code}</span>}
              </Heading>
              <div class="actions">
                <PermittedButton need="catalogue" onClick={() => setEditing(true)}>
                  {t('edit')}
                </PermittedButton>
                <PermittedButton need="catalogue" onClick={() => setMerging(true)}>
                  {t('merge')}…
                </PermittedButton>
              </div>
            </div>
            <div class="item">
              {row.images.length > 0 && <Picture item={row} />}
              <Facts rows={factsOf(row)} />
            </div>
            <Prices itemId={row.id} current={row.prices} onSaved={item.reload} />
            <Sources item={row} />
            <LastSales itemId={id} />
            <ItemListings itemId={id} />
            <ItemMerges itemId={row.id} onUndone={item.reload} />
            {merging && <MergeForm item={row} onClose={() => setMerging(false)} onMerged={(into) => route(`/console/items/${into}`)} />}
            {editing && (
              <ItemForm
                item={row}
                categoryId={null}
                onClose={() => setEditing(false)}
                onSaved={() => {
                  setEditing(false)
                  item.reload()
                }}
              />
            )}
          </>
        )}
      </Await>
    </>
  )
}

/** Catalogues often repeat a detail as an attribute. */
function isDetail({ details }: PricedItem, { name, value }: { name: string; value: string }): boolean {
  return Object.entries(details).some(([key, detail]) => key === name.toLowerCase().replaceAll(' ', '_') && String(detail) === value)
}

function factsOf(item: PricedItem): [string, string][] {
  const details = Object.entries(item.details).map(([name, value]): [string, string] => [
    termText('detail', name),
    Array.isArray(value) ? value.join(', ') : String(value),
  ])
  return [
    [t('id'), String(item.id)],
    [t('category'), item.category.name],
    [t('source'), termText('market', item.market)],
    [t('shownMarket'), termText('market', item.shown_market)],
    [t('game'), item.game],
    [t('genre'), termText('genre', item.genre)],
    [t('ref'), item.ref],
    [t('slug'), item.slug],
    ...details,
    ...item.attributes.filter((attribute) => !isDetail(item, attribute)).map(({ name, value }): [string, string] => [name, value]),
    [t('foreignIds'), item.foreign_ids.map(({ source, id }) => `${source} ${id}`).join(', ')],
    [t('changedAt'), moment(item.updated_at)],
  ]
}

/** Maximum held prices on this page; the page of held prices shows all. */
const MAX_HELD_PRICES = 100

interface PricesProps {
  itemId: number
  current: ItemPrice[]
  onSaved: () => void
}

function Prices({ itemId, current, onSaved }: PricesProps) {
  const [version, changed] = useVersion()
  const saved = () => {
    changed()
    onSaved()
  }
  const held = useData('/held-prices', { query: { item_id: itemId, per_page: MAX_HELD_PRICES } })
  return (
    <>
      <PriceHistory itemId={itemId} version={version} />
      <CurrentPrices itemId={itemId} prices={current} onSaved={saved} />
      <WhyThisPrice itemId={itemId} prices={current} />
      <HeldPrices itemId={itemId} of={held} />
    </>
  )
}

function PriceHistory({ itemId, version }: { itemId: number; version: number }) {
  const choice = useChartChoice()
  const chart = useData(`/items/${itemId}/price-chart`, { query: choice.query, version })
  return (
    <section aria-labelledby="history">
      <h2 id="history">{t('priceHistory')}</h2>
      <PriceChart of={chart} choice={choice} />
    </section>
  )
}

function CurrentPrices({ itemId, prices, onSaved }: { itemId: number; prices: ItemPrice[]; onSaved: () => void }) {
  /** the price to correct; null for a new one; undefined while the form is closed */
  const [setting, setSetting] = useState<ItemPrice | null | undefined>()
  return (
    <section aria-labelledby="prices">
      <div class="head">
        <h2 id="prices">{t('currentPrices')}</h2>
        <PermittedButton need="catalogue" onClick={() => setSetting(null)}>
          {t('newPrice')}
        </PermittedButton>
      </div>
      {setting !== undefined && (
        <PriceForm
          itemId={itemId}
          price={setting}
          onClose={() => setSetting(undefined)}
          onSaved={() => {
            setSetting(undefined)
            onSaved()
          }}
        />
      )}
      {prices.length === 0 ? (
        <Empty>{t('noPrices')}</Empty>
      ) : (
        <Table
          caption={t('currentPrices')}
          rows={prices}
          rowKey={(price) => `${price.market} ${price.label}`}
          columns={[
            { head: t('label'), cell: (price) => price.label },
            { head: t('source'), cell: (price) => termText('market', price.market) },
            { head: t('price'), number: true, cell: (price) => priceText(price.price, price.market) },
            { head: t('state'), short: true, cell: (price) => <Status code={price.state} /> },
            { head: t('confidence'), short: true, cell: (price) => termText('confidence', price.confidence) },
            { head: t('why'), wide: true, cell: (price) => price.flags.map((flag) => termText('flag', flag)).join(', ') },
            { head: t('asOf'), cell: (price) => <span title={moment(price.updated_at)}>{ago(price.updated_at)}</span> },
            { head: t('confirmed'), wide: true, cell: (price) => <span title={moment(price.confirmed_at)}>{ago(price.confirmed_at)}</span> },
            { head: t('import'), number: true, wide: true, cell: (price) => <a href={`/console/imports/${price.import_id}`}>#{price.import_id}</a> },
            {
              head: t('actions'),
              cell: (price) =>
                price.market !== 'service' && (
                  <PermittedButton
                    need="catalogue"
                    class="plain"
                    aria-label={`${t('correct')}: ${termText('market', price.market)} ${price.label}`}
                    onClick={() => setSetting(price)}
                  >
                    {t('correct')}
                  </PermittedButton>
                ),
            },
          ]}
        />
      )}
    </section>
  )
}

/** Prices pending a decision; renders nothing if there are none. */
function HeldPrices({ itemId, of: held }: { itemId: number; of: Loaded<HeldPrice[]> }) {
  if (held.data?.length === 0) return null
  return (
    <section aria-labelledby="held">
      <h2 id="held">{t('heldPrices')}</h2>
      <Await of={held}>
        {(rows) => (
          <>
            <Table
              caption={t('heldPrices')}
              rows={rows}
              rowKey={(price) => price.id}
              columns={[
                { head: t('label'), cell: (price) => price.label },
                { head: t('source'), cell: (price) => termText('market', price.market) },
                { head: t('price'), number: true, cell: (price) => priceText(price.price, price.market) },
                {
                  head: t('why'),
                  cell: (price) => <span title={refusalText({ ...price, message: price.reason })}>{termText('rule', price.rule)}</span>,
                },
                { head: t('asOf'), cell: (price) => <span title={moment(price.updated_at)}>{ago(price.updated_at)}</span> },
                {
                  head: t('import'),
                  number: true,
                  wide: true,
                  cell: (price) => <a href={`/console/imports/${price.import_id}`}>#{price.import_id}</a>,
                },
              ]}
            />
            <p>
              <a href={`/console/price-reviews?state=held&item_id=${itemId}`}>{t('decideHeld', { count: held.pagination?.total ?? rows.length })}</a>
            </p>
          </>
        )}
      </Await>
    </section>
  )
}

function Sources({ item }: { item: PricedItem }) {
  const facts = Map.groupBy(Object.entries(item.provenance), ([, source]) => source)
  return (
    <section aria-labelledby="sources">
      <h2 id="sources">{t('sources')}</h2>
      {item.sources.length === 0 ? (
        <Empty>{t('noSources')}</Empty>
      ) : (
        <Table
          caption={t('sources')}
          rows={item.sources}
          rowKey={(record) => record.record_id}
          columns={[
            { head: t('source'), cell: (record) => record.source },
            { head: t('id'), cell: (record) => record.foreign_id },
            { head: t('finish'), cell: (record) => record.finish ?? '–' },
            { head: t('joinedBy'), cell: (record) => `${termText('method', record.method)} (${record.confidence} %)` },
            { head: t('states'), wide: true, cell: (record) => (facts.get(record.source) ?? []).map(([field]) => field).join(', ') },
            { head: t('when'), cell: (record) => <span title={moment(record.at)}>{ago(record.at)}</span> },
          ]}
        />
      )}
    </section>
  )
}

const SHOWN = 10

function LastSales({ itemId }: { itemId: number }) {
  const sales = useData('/sales', { query: { item_id: itemId, per_page: SHOWN } })
  return (
    <section aria-labelledby="sales">
      <h2 id="sales">{t('lastSales')}</h2>
      <Await of={sales}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty>{t('noSales')}</Empty>
          ) : (
            <Table
              caption={t('lastSales')}
              rows={rows}
              rowKey={(sale) => sale.id}
              columns={[
                { head: t('when'), cell: (sale) => date(sale.sold_at) },
                { head: t('label'), cell: (sale) => sale.label },
                { head: t('quantity'), number: true, cell: (sale) => count(sale.quantity) },
                { head: t('unitPrice'), number: true, cell: (sale) => lira(sale.unit_price) },
                { head: t('state'), cell: (sale) => sale.cancelled_at && <Status code="cancelled" /> },
                { head: t('order'), number: true, cell: (sale) => <a href={`/console/orders/${sale.order_id}`}>{sale.order_id}</a> },
              ]}
            />
          )
        }
      </Await>
    </section>
  )
}

function ItemListings({ itemId }: { itemId: number }) {
  const listings = useData('/listings', { query: { item_id: itemId, per_page: SHOWN } })
  return (
    <section aria-labelledby="listings">
      <h2 id="listings">{t('listings')}</h2>
      <Await of={listings}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty>{t('noListings')}</Empty>
          ) : (
            <>
              <Table
                caption={t('listings')}
                rows={rows}
                rowKey={(listing) => listing.id}
                columns={[
                  { head: t('title'), cell: (listing) => <a href={`/console/listings/${listing.id}`}>{listing.title}</a> },
                  { head: t('state'), cell: (listing) => <Status code={listing.status} /> },
                  { head: t('grade'), short: true, cell: (listing) => <Grade id={listing.grade_id} /> },
                  { head: t('price'), number: true, cell: (listing) => lira(listing.price) },
                  { head: t('stock'), number: true, cell: (listing) => count(listing.quantity) },
                ]}
              />
              {(listings.pagination?.total ?? 0) > rows.length && (
                <p>
                  <a href={`/console/listings?item_id=${itemId}`}>{t('allListings', { count: listings.pagination!.total })}</a>
                </p>
              )}
            </>
          )
        }
      </Await>
    </section>
  )
}
