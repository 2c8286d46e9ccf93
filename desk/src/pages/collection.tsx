// One collection: its worth over time, and its records with matching prices, cost and gain.
import { useRoute } from 'preact-iso'
import { Heading } from '#ui/heading.tsx'
import { Await, Empty, Loading } from '#ui/states.tsx'
import { WorthHistory } from '#ui/worth-history.tsx'
import type { CollectionRecord } from '../../../client/src/api.ts'
import { useData } from '../api.ts'
import { RowPages } from '../row-pages.tsx'
import { calendarDay, count, money, t, termText } from '../words.ts'

export function CollectionPage() {
  const id = Number(useRoute().params.id)
  const collections = useData('/plus/collections')
  const records = useData(`/plus/collections/${id}/items`, { query: { with_value: 1 } })
  const history = useData(`/plus/collections/${id}/worth-history`)
  const name = collections.data?.find((collection) => collection.id === id)?.name
  return (
    <>
      <p class="trail">
        <a href="/desk/collections">{t('collections')}</a>
      </p>
      <Heading>{name ?? t('collection')}</Heading>
      {history.loading && history.data === null ? (
        <Loading />
      ) : (
        <Await of={records}>
          {(rows) => (
            <>
              <WorthHistory of={history} />
              {rows.length === 0 ? <Empty>{t('noRecords')}</Empty> : <Records of={rows} />}
            </>
          )}
        </Await>
      )}
    </>
  )
}

function Records({ of: records }: { of: CollectionRecord[] }) {
  return (
    <section>
      <h2>{t('records')}</h2>
      <RowPages
        caption={t('records')}
        rows={records}
        perPage={50}
        rowKey={(record) => record.id}
        columns={[
          { head: t('item'), cell: (record) => record.item_name },
          { head: t('grade'), cell: (record) => record.group_label ?? t('notStated') },
          { head: t('quantity'), number: true, cell: (record) => count(record.quantity) },
          { head: t('worth'), number: true, cell: (record) => <Worth of={record} /> },
          { head: t('cost'), number: true, cell: ({ cost }) => (cost ? money(cost.amount, cost.currency) : '–') },
          { head: t('gain'), number: true, cell: ({ gain }) => (gain ? money(gain.amount, gain.currency) : '–') },
          { head: t('bought'), short: true, wide: true, cell: ({ purchase_date: day }) => (day ? calendarDay(day) : '–') },
        ]}
      />
    </section>
  )
}

function Worth({ of: { value, value_missing: missing } }: { of: CollectionRecord }) {
  if (!value) return <span class="quiet">{missing ? termText('valueMissing', missing) : '–'}</span>
  return (
    <>
      {money(value.amount, value.currency)} <span class="quiet">{termText('market', value.market)}</span>
    </>
  )
}
