// Client-side paging of a long table whose rows have all been loaded; the page number is in the address.
import type { ComponentProps } from 'preact'
import { useAddressQuery } from './address.ts'
import { Pages, Table } from './table.tsx'

type TableProps<Row> = ComponentProps<typeof Table<Row>>

/** @param perPage rows per page; default: 25 */
export function RowPages<Row>({ rows, perPage = 25, ...table }: TableProps<Row> & { perPage?: number }) {
  const address = useAddressQuery()
  const last = Math.max(1, Math.ceil(rows.length / perPage))
  const page = Math.min(Math.max(1, Number(address.values.page) || 1), last)
  const pagination = { current_page: page, per_page: perPage, total: rows.length, last_page: last, has_more: page < last }
  return (
    <>
      <Table {...table} rows={rows.slice((page - 1) * perPage, page * perPage)} />
      <Pages of={pagination} link={(to) => address.link({ page: to })} />
    </>
  )
}
