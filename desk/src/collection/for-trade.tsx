// The records that their owner would trade or sell: how many copies of each, what is listed of them, and listing them for sale.
import { useEffect, useState } from 'preact/hooks'
import { asApiError, useVersion } from '#ui/data.ts'
import { Status } from '#ui/states.tsx'
import type { Bulk } from '#ui/table.tsx'
import { announce } from '#ui/toasts.tsx'
import type { CollectionRecord, OwnListing } from '../../../client/src/api.ts'
import { List, mayWrite, request, useData } from '../api.ts'
import { HOLD_MS } from '../bulk.ts'
import { count, lira, sentence, t } from '../words.ts'
import { RecordValue } from './amounts.tsx'
import { listingsOf } from './listed.ts'
import { ListForSale } from './list-for-sale.tsx'
import { recordsChanged, recordsVersion } from './record-changes.ts'
import { RecordItem } from './record-item.tsx'

export function ForTrade({ collectionId }: { collectionId: number }) {
  const [toList, setToList] = useState<{ records: CollectionRecord[]; onListed: () => void } | null>(null)
  const [listingsVersion, listingsChanged] = useVersion()
  const me = useData('/me')
  const bulk: Bulk<CollectionRecord> = {
    nameOf: ({ item_name: name }) => name,
    actions: (records, done) => (
      <button type="button" class="main" onClick={() => setToList({ records, onListed: done })}>
        {t('listForSale')}
      </button>
    ),
  }
  const mayList = mayWrite() && me.data?.listing_intake_open === true
  return (
    <section>
      <h2>{t('forTrade')}</h2>
      <p class="quiet">{t('forTradeText')}</p>
      {mayWrite() && me.data?.listing_intake_open === false && <p class="quiet">{t('intakeClosed')}</p>}
      <List
        path={`/plus/collections/${collectionId}/items`}
        fixed={{ with_value: 1, with_item: 1 }}
        caption={t('forTrade')}
        empty={t('nothingForTrade')}
        version={recordsVersion.value}
        filters={[
          { name: 'search', label: t('searchRecords'), type: 'search' },
          {
            name: 'for_trade',
            label: t('records'),
            options: [
              { value: '1', text: t('onlyForTrade') },
              { value: '0', text: t('all') },
            ],
            always: true,
          },
        ]}
        toQuery={({ for_trade: forTrade, ...rest }) => ({ ...rest, for_trade: forTrade || 1 })}
        rowKey={({ id }) => id}
        columns={[
          { head: t('item'), name: 'item', sort: 'name', cell: (record) => <RecordItem of={record} collectionId={collectionId} /> },
          { head: t('grade'), name: 'grade', sort: 'grade', cell: (record) => record.group_label ?? t('notStated') },
          { head: t('quantity'), name: 'quantity', number: true, sort: 'quantity', cell: (record) => count(record.quantity) },
          {
            head: t('forTrade'),
            name: 'for_trade',
            number: true,
            cell: (record) => <ForTradeCell key={`${record.id} ${record.for_trade}`} of={record} collectionId={collectionId} />,
          },
          { head: t('worth'), name: 'worth', number: true, sort: 'value', cell: (record) => <RecordValue of={record} /> },
          { head: t('listings'), name: 'listings', cell: (record) => <ListedCell of={record} version={listingsVersion} /> },
        ]}
        bulk={mayList ? bulk : undefined}
      />
      {toList && (
        <ListForSale
          collectionId={collectionId}
          records={toList.records}
          onClose={() => setToList(null)}
          onListed={() => {
            toList.onListed()
            setToList(null)
            listingsChanged()
          }}
        />
      )}
    </section>
  )
}

/** Saved when the field is left, or by Enter. */
function ForTradeCell({ of: record, collectionId }: { of: CollectionRecord; collectionId: number }) {
  const { id, item_name: name, quantity, for_trade: before } = record
  const [typed, setTyped] = useState(String(before))
  const [saving, setSaving] = useState(false)
  if (!mayWrite()) return <>{count(before)}</>
  const set = async (forTrade: number, undo?: number) => {
    try {
      await request('PATCH', `/plus/collections/${collectionId}/items/${id}`, { json: { for_trade: forTrade } })
      const action = undo === undefined ? undefined : { text: t('undo'), run: () => void set(undo), for: HOLD_MS }
      announce(t('forTradeSaved', { name, count: forTrade }), 'good', action)
    } catch (error) {
      announce(`${name}: ${sentence(asApiError(error))}`, 'bad')
      setTyped(String(before))
    }
    recordsChanged()
  }
  const save = (input: HTMLInputElement) => {
    if (saving || typed === String(before) || !input.reportValidity()) return
    setSaving(true)
    void set(Number(typed), before).then(() => setSaving(false))
  }
  return (
    <input
      type="number"
      class={typed === String(before) ? 'edit' : 'edit edited'}
      aria-label={t('forTradeOf', { name })}
      min={0}
      max={quantity}
      step={1}
      required
      value={typed}
      onInput={({ currentTarget }) => setTyped(currentTarget.value)}
      onBlur={({ currentTarget }) => save(currentTarget)}
      onKeyDown={({ key, currentTarget }) => {
        if (key === 'Enter') save(currentTarget)
        if (key === 'Escape') setTyped(String(before))
      }}
    />
  )
}

function ListedCell({ of: { id }, version }: { of: CollectionRecord; version: number }) {
  const [listings, setListings] = useState<OwnListing[] | null>(null)
  const all = recordsVersion.value
  // biome-ignore lint/correctness/useExhaustiveDependencies: the versions repeat the read
  useEffect(() => {
    let here = true
    listingsOf(id).then(
      (found) => here && setListings(found),
      () => here && setListings(null),
    )
    return () => {
      here = false
    }
  }, [id, version, all])
  if (listings === null || listings.length === 0) return <>–</>
  return (
    <span class="why">
      {listings.map(({ id: listing, quantity, price, status }) => (
        <span key={listing}>
          <a href={`/desk/listings/${listing}`}>
            {count(quantity)} × {lira(price)}
          </a>{' '}
          <Status code={status} />
        </span>
      ))}
    </span>
  )
}
