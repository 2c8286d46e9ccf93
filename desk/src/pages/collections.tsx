// The seller's collections with their current worth, by currency.
import { Heading } from '#ui/heading.tsx'
import { Await, Empty } from '#ui/states.tsx'
import { Table } from '#ui/table.tsx'
import type { Collection } from '../../../client/src/api.ts'
import { useData } from '../api.ts'
import { count, money, t, termText } from '../words.ts'

type Currency = NonNullable<Collection['worth']>['currencies'][number]

export function CollectionsPage() {
  const collections = useData('/plus/collections', { query: { with_value: 1 } })
  return (
    <>
      <Heading>{t('collections')}</Heading>
      <Await of={collections}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty>{t('noOwnCollections')}</Empty>
          ) : (
            <Table
              caption={t('collections')}
              rows={rows}
              rowKey={(collection) => collection.id}
              columns={[
                { head: t('name'), cell: (collection) => <a href={`/desk/collections/${collection.id}`}>{collection.name}</a> },
                { head: t('visibility'), cell: (collection) => termText('visibility', collection.visibility) },
                { head: t('records'), number: true, cell: (collection) => count(collection.items_count) },
                { head: t('worth'), number: true, cell: (collection) => <ByCurrency of={collection} amount={({ value }) => value} /> },
                { head: t('cost'), number: true, cell: (collection) => <ByCurrency of={collection} amount={({ cost }) => cost} /> },
                { head: t('gain'), number: true, cell: (collection) => <ByCurrency of={collection} amount={({ gain }) => gain} /> },
                {
                  head: t('withoutPrice'),
                  number: true,
                  wide: true,
                  cell: ({ worth }) => worth && count(worth.without_price + worth.without_trusted_price),
                },
              ]}
            />
          )
        }
      </Await>
    </>
  )
}

/** One line for each currency with the amount. */
function ByCurrency({ of: { worth }, amount }: { of: Collection; amount: (worth: Currency) => number | null }) {
  const amounts = (worth?.currencies ?? []).flatMap((one) => {
    const value = amount(one)
    return value === null ? [] : [{ currency: one.currency, value }]
  })
  if (amounts.length === 0) return <>–</>
  return (
    <>
      {amounts.map(({ currency, value }) => (
        <div key={currency}>{money(value, currency)}</div>
      ))}
    </>
  )
}
