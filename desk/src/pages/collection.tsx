// One collection: its records with the prices that fit them, cost and gain.
import { useRoute } from 'preact-iso'
import { useAddressQuery } from '#ui/address.ts'
import { Heading } from '#ui/heading.tsx'
import { Await, Empty } from '#ui/states.tsx'
import { Pages, Table } from '#ui/table.tsx'
import type { CollectionRecord } from '../../../client/src/api.ts'
import { useData } from '../api.ts'
import { calendarDay, count, money, t, term } from '../words.ts'

const PER_PAGE = 50

export function CollectionPage() {
  const id = Number(useRoute().params.id)
  const collections = useData('/plus/collections')
  const records = useData(`/plus/collections/${id}/items`, { query: { with_value: 1 } })
  const name = collections.data?.find((collection) => collection.id === id)?.name
  return (
    <>
      <p class="trail">
        <a href="/desk/collections">{t('collections')}</a>
      </p>
      <Heading>{name ?? t('collection')}</Heading>
      <Await of={records}>{(rows) => (rows.length === 0 ? <Empty>{t('noRecords')}</Empty> : <Records of={rows} />)}</Await>
    </>
  )
}

/** The service sends all records at once; they are shown a page at a time. */
function Records({ of: records }: { of: CollectionRecord[] }) {
  const address = useAddressQuery()
  const last = Math.ceil(records.length / PER_PAGE)
  const page = Math.min(Math.max(1, Number(address.values.page) || 1), last)
  const pagination = { current_page: page, per_page: PER_PAGE, total: records.length, last_page: last, has_more: page < last }
  return (
    <>
      <Table
        caption={t('records')}
        rows={records.slice((page - 1) * PER_PAGE, page * PER_PAGE)}
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
      <Pages of={pagination} link={(to) => address.link({ page: to })} />
    </>
  )
}

function Worth({ of: { value, value_missing: missing } }: { of: CollectionRecord }) {
  if (!value) return <span class="quiet">{missing ? term('valueMissing', missing) : '–'}</span>
  return (
    <>
      {money(value.amount, value.currency)} <span class="quiet">{term('market', value.market)}</span>
    </>
  )
}
