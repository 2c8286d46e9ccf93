// The records of a collection, page by page: searched, sorted, changed, and removed with an undo.
import { useState } from 'preact/hooks'
import type { CollectionRecord } from '../../../client/src/api.ts'
import { List, mayWrite } from '../api.ts'
import { HOLD_MS } from '../bulk.ts'
import { calendarDay, count, t } from '../words.ts'
import { AmountOf, RecordValue } from './amounts.tsx'
import { type EditedRecord, readForEdit, RecordDialog } from './record-dialog.tsx'
import { holdRemoval, recordsVersion, removals, undoRemoval } from './record-changes.ts'
import { RecordItem } from './record-item.tsx'

export function Records({ collectionId }: { collectionId: number }) {
  const [edited, setEdited] = useState<EditedRecord | null>(null)
  const edit = async ({ id }: CollectionRecord) => setEdited(await readForEdit(collectionId, id))
  const remove = ({ id, item_name: name }: CollectionRecord) => holdRemoval({ collectionId, recordId: id, name })
  return (
    <section>
      <h2>{t('records')}</h2>
      <Removals />
      <List
        path={`/plus/collections/${collectionId}/items`}
        fixed={{ with_value: 1, with_item: 1 }}
        caption={t('records')}
        empty={t('noRecords')}
        version={recordsVersion.value}
        filters={[{ name: 'search', label: t('searchRecords'), type: 'search' }]}
        rowKey={(record) => record.id}
        columns={[
          { head: t('item'), name: 'item', sort: 'name', cell: (record) => <RecordItem of={record} collectionId={collectionId} /> },
          { head: t('grade'), name: 'grade', sort: 'grade', cell: (record) => record.group_label ?? t('notStated') },
          { head: t('quantity'), name: 'quantity', number: true, sort: 'quantity', cell: (record) => count(record.quantity) },
          { head: t('worth'), name: 'worth', number: true, sort: 'value', cell: (record) => <RecordValue of={record} /> },
          { head: t('cost'), name: 'cost', number: true, sort: 'cost', cell: ({ cost }) => <AmountOf of={cost} /> },
          { head: t('gain'), name: 'gain', number: true, sort: 'gain', cell: ({ gain }) => <AmountOf of={gain} /> },
          {
            head: t('bought'),
            name: 'bought',
            short: true,
            optional: true,
            sort: 'purchase_date',
            cell: ({ purchase_date: day }) => (day ? calendarDay(day) : '–'),
          },
          ...(mayWrite()
            ? [
                {
                  head: t('actions'),
                  name: 'actions',
                  cell: (record: CollectionRecord) => <Actions of={record} onEdit={() => void edit(record)} onRemove={() => remove(record)} />,
                },
              ]
            : []),
        ]}
      />
      {edited && <RecordDialog key={edited.record.id} of={edited} onClose={() => setEdited(null)} />}
    </section>
  )
}

interface ActionsProps {
  of: CollectionRecord
  onEdit: () => void
  onRemove: () => void
}

function Actions({ of: { id, item_name: name }, onEdit, onRemove }: ActionsProps) {
  const isRemoved = removals.value.some(({ recordId }) => recordId === id)
  return (
    <span class="buttons tight">
      <button type="button" disabled={isRemoved} aria-label={`${t('edit')}: ${name}`} onClick={onEdit}>
        {t('edit')}
      </button>
      <button type="button" class="danger" disabled={isRemoved} aria-label={`${t('remove')}: ${name}`} onClick={onRemove}>
        {t('remove')}
      </button>
    </span>
  )
}

/** Removals that are held back, with their undo. */
function Removals() {
  return (
    <div class="bulk-notices" role="status">
      {removals.value.map((removal) => {
        const text = t('heldRemoval', { seconds: HOLD_MS / 1_000, name: removal.name })
        return (
          <section key={removal.recordId} class="notice" aria-label={text}>
            <p>
              {text}{' '}
              <button type="button" onClick={() => undoRemoval(removal)}>
                {t('undo')}
              </button>
            </p>
          </section>
        )
      })}
    </div>
  )
}
