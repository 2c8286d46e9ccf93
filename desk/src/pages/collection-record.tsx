// One record of a collection: its copies, and the lots and disposals that they came and left by, with the gain of each.
import { useRoute } from 'preact-iso'
import { useState } from 'preact/hooks'
import { confirm } from '#ui/dialog.tsx'
import { Heading } from '#ui/heading.tsx'
import { Await, Empty, Facts, Refusal } from '#ui/states.tsx'
import { type Column, Table } from '#ui/table.tsx'
import { announce } from '#ui/toasts.tsx'
import type { CollectionDisposal, CollectionLot, CollectionRecord } from '../../../client/src/api.ts'
import { mayWrite, useData, useWrite, writeNow } from '../api.ts'
import { HOLD_MS } from '../bulk.ts'
import { DisposalDialog, LotDialog, type OfRecord } from '../collection/lot-dialogs.tsx'
import { amountIn, type Money, MoneyChoice } from '../collection/moneys.tsx'
import { recordsChanged, recordsVersion } from '../collection/record-changes.ts'
import { type EditedRecord, readForEdit, RecordDialog } from '../collection/record-dialog.tsx'
import { calendarDay, count, money, t, termText } from '../words.ts'

export function CollectionRecordPage() {
  const { params } = useRoute()
  const [collectionId, recordId] = [Number(params.id), Number(params.recordId)]
  const version = recordsVersion.value
  const collection = useData(`/plus/collections/${collectionId}`)
  const record = useData(`/plus/collections/${collectionId}/items/${recordId}`, { version })
  return (
    <>
      <p class="trail">
        <a href={`/desk/collections/${collectionId}`}>{collection.data?.name ?? t('collection')}</a>
      </p>
      <Await of={record} title={t('record')}>
        {(row) => <History key={row.id} of={row} collectionId={collectionId} />}
      </Await>
    </>
  )
}

type Open = 'lot' | 'disposal' | EditedRecord | null

function History({ of: record, collectionId }: { of: CollectionRecord; collectionId: number }) {
  const { id: recordId, item_name: name, quantity } = record
  const [chosen, choose] = useState<Money>('TRY')
  const [open, setOpen] = useState<Open>(null)
  const options = { query: { currency: chosen }, version: recordsVersion.value }
  const lots = useData(`/plus/collections/${collectionId}/items/${recordId}/lots`, options)
  const disposals = useData(`/plus/collections/${collectionId}/items/${recordId}/disposals`, options)
  const of = { collectionId, recordId, name }
  const close = () => setOpen(null)
  const edit = async () => setOpen(await readForEdit(collectionId, recordId))
  return (
    <>
      <Heading>{name}</Heading>
      <Facts
        rows={[
          [t('grade'), record.group_label ?? t('notStated')],
          [t('quantity'), count(quantity)],
          [t('forTrade'), count(record.for_trade)],
          [t('ownCode'), record.card_uniq_id],
          [termText('field', 'note'), record.note],
        ]}
      />
      {mayWrite() && (
        <p class="buttons">
          <button type="button" class="main" onClick={() => setOpen('lot')}>
            {t('addLot')}
          </button>
          <button type="button" disabled={quantity === 0} onClick={() => setOpen('disposal')}>
            {t('addDisposal')}
          </button>
          <button type="button" onClick={() => void edit()}>
            {t('edit')}
          </button>
        </p>
      )}
      <MoneyChoice chosen={chosen} choose={choose} />
      <section class="spaced">
        <h2>{t('lots')}</h2>
        <p class="quiet">{t('lotsText')}</p>
        <Await of={lots}>{(rows) => <Lots rows={rows} of={of} onEdit={() => void edit()} />}</Await>
      </section>
      <section>
        <h2>{t('disposals')}</h2>
        <Await of={disposals}>{(rows) => <Disposals rows={rows} of={of} />}</Await>
      </section>
      {open === 'lot' && <LotDialog of={of} onClose={close} />}
      {open === 'disposal' && <DisposalDialog of={{ ...of, owned: quantity }} onClose={close} />}
      {open !== null && typeof open === 'object' && <RecordDialog of={open} onClose={close} />}
    </>
  )
}

function Lots({ rows, of, onEdit }: { rows: CollectionLot[]; of: OfRecord; onEdit: () => void }) {
  const { error, removeLot } = useRemovals(of)
  if (rows.length === 0) return <Empty>{t('noLots')}</Empty>
  const actions: Column<CollectionLot>[] = [
    {
      head: t('actions'),
      cell: (lot) =>
        lot.id === null ? (
          <button type="button" aria-label={`${t('edit')}: ${calendarDay(lot.acquired_at)}`} onClick={onEdit}>
            {t('edit')}
          </button>
        ) : (
          <RemoveButton of={lot.acquired_at} onClick={() => void removeLot(lot)} />
        ),
    },
  ]
  return (
    <>
      <Refusal error={error} />
      <Table
        caption={t('lots')}
        rows={rows}
        rowKey={({ id }) => id ?? 0}
        columns={[
          { head: t('bought'), short: true, cell: ({ acquired_at: day }) => calendarDay(day) },
          { head: t('lotSource'), cell: ({ source }) => termText('lotSource', source) },
          { head: t('quantity'), number: true, cell: (lot) => count(lot.quantity) },
          { head: t('rest'), number: true, cell: ({ rest }) => count(rest) },
          { head: t('pricePaid'), number: true, cell: ({ unit_cost: cost, currency }) => (cost === null ? '–' : money(cost, currency)) },
          { head: t('fees'), number: true, cell: ({ fees, currency }) => money(fees, currency) },
          { head: t('cost'), number: true, cell: (lot) => amountIn(lot.cost, lot.money) },
          { head: t('worth'), number: true, cell: (lot) => amountIn(lot.value, lot.money) },
          { head: t('gain'), number: true, cell: (lot) => amountIn(lot.gain, lot.money) },
          ...(mayWrite() ? actions : []),
        ]}
      />
    </>
  )
}

function Disposals({ rows, of }: { rows: CollectionDisposal[]; of: OfRecord }) {
  const { error, removeDisposal } = useRemovals(of)
  if (rows.length === 0) return <Empty>{t('noDisposals')}</Empty>
  const actions: Column<CollectionDisposal>[] = [
    {
      head: t('actions'),
      // Those of orders follow the orders.
      cell: (disposal) => disposal.order_id === null && <RemoveButton of={disposal.at} onClick={() => void removeDisposal(disposal)} />,
    },
  ]
  return (
    <>
      <Refusal error={error} />
      <Table
        caption={t('disposals')}
        rows={rows}
        rowKey={({ id }) => id}
        columns={[
          { head: t('day'), short: true, cell: ({ at }) => calendarDay(at) },
          { head: t('reason'), cell: (disposal) => reasonOf(disposal) },
          { head: t('quantity'), number: true, cell: ({ quantity }) => count(quantity) },
          { head: t('received'), number: true, cell: ({ gross, currency }) => money(gross, currency) },
          { head: t('fees'), number: true, cell: ({ fees, currency }) => money(fees, currency) },
          { head: t('shipping'), number: true, cell: ({ shipping, currency }) => money(shipping, currency) },
          { head: t('netProceeds'), number: true, cell: (disposal) => amountIn(disposal.net, disposal.money) },
          { head: t('cost'), number: true, cell: (disposal) => amountIn(disposal.cost, disposal.money) },
          { head: t('gain'), number: true, cell: (disposal) => amountIn(disposal.realised, disposal.money) },
          ...(mayWrite() ? actions : []),
        ]}
      />
    </>
  )
}

function reasonOf({ order_id: order, returned_at: returned, gross }: CollectionDisposal): string {
  const left = order !== null ? t('orderOf', { id: String(order) }) : gross === 0 ? t('givenAway') : t('soldElsewhere')
  return returned === null ? left : `${left}, ${t('returnedOn', { day: calendarDay(returned) })}`
}

function RemoveButton({ of: day, onClick }: { of: string; onClick: () => void }) {
  return (
    <button type="button" class="danger" aria-label={`${t('remove')}: ${calendarDay(day)}`} onClick={onClick}>
      {t('remove')}
    </button>
  )
}

/** Removes entries after a question, and offers to add them again. */
function useRemovals({ collectionId, recordId, name }: OfRecord) {
  const { error, write } = useWrite()
  const path = `/plus/collections/${collectionId}/items/${recordId}` as const
  const restored = () => {
    announce(t('entryRestored', { name }))
    recordsChanged()
  }
  const removed = (restore: () => Promise<void>) => {
    announce(t('entryRemoved', { name }), 'good', { text: t('undo'), run: () => void restore(), for: HOLD_MS })
    recordsChanged()
  }
  const removeLot = async ({ id, acquired_at, quantity, unit_cost, fees, currency, source }: CollectionLot) => {
    if (!(await confirm({ title: t('removeLotTitle'), text: t('removeLotText', { count: quantity }), action: t('remove') }))) return
    if (!(await write('DELETE', `${path}/lots/${id!}`))) return
    removed(async () => {
      if (await writeNow('POST', `${path}/lots`, { acquired_at, quantity, unit_cost, fees, currency, source })) restored()
    })
  }
  const removeDisposal = async ({ id, at, quantity, gross, fees, shipping, currency }: CollectionDisposal) => {
    if (!(await confirm({ title: t('removeDisposalTitle'), text: t('removeDisposalText', { count: quantity }), action: t('remove') }))) return
    if (!(await write('DELETE', `${path}/disposals/${id}`))) return
    removed(async () => {
      if (await writeNow('POST', `${path}/disposals`, { at, quantity, gross, fees, shipping, currency })) restored()
    })
  }
  return { error, removeLot, removeDisposal }
}
