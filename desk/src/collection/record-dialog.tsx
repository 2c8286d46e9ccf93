// Changes a record: quantity, copies for trade, price, date, code and note, with an undo while nothing else has changed it.
import { asApiError } from '#ui/data.ts'
import { Dialog, Field, Form, type Values } from '#ui/dialog.tsx'
import { announce } from '#ui/toasts.tsx'
import type { CollectionRecord } from '../../../client/src/api.ts'
import { request, useWrite } from '../api.ts'
import { HOLD_MS } from '../bulk.ts'
import { numberIn } from '../listing/listing-fields.tsx'
import { sentence, t, termText } from '../words.ts'
import { PRICE_PAID } from './quick-entry.tsx'
import { recordsChanged } from './record-changes.ts'

export interface EditedRecord {
  collectionId: number
  record: CollectionRecord
  /** its version */
  etag: string | null
}

/** The record as it is now, so that a save changes the version that the reader sees in the form; null after a failure, which is announced. */
export async function readForEdit(collectionId: number, recordId: number): Promise<EditedRecord | null> {
  try {
    const { data: record, etag = null } = await request('GET', `/plus/collections/${collectionId}/items/${recordId}`)
    return { collectionId, record, etag }
  } catch (error) {
    announce(sentence(asApiError(error)), 'bad')
    return null
  }
}

type Fields = Pick<CollectionRecord, 'quantity' | 'for_trade' | 'purchase_price' | 'purchase_date' | 'card_uniq_id' | 'note'>

export function RecordDialog({ of: { collectionId, record, etag }, onClose }: { of: EditedRecord; onClose: () => void }) {
  const { busy, error, write } = useWrite()
  const path = `/plus/collections/${collectionId}/items/${record.id}` as const
  const name = record.item_name
  const undo = async (before: Partial<Fields>, version: string | null) => {
    try {
      await request('PATCH', path, { json: before, ...(version !== null && { ifMatch: version }) })
      announce(t('recordRestored', { name }))
    } catch (thrown) {
      announce(`${name}: ${sentence(asApiError(thrown))}`, 'bad')
    }
    recordsChanged()
  }
  const save = async (values: Values) => {
    const { changes, before } = changedFields(record, values)
    if (Object.keys(changes).length === 0) return onClose()
    const saved = await write('PATCH', path, changes, etag ?? undefined)
    if (!saved) return
    const version = saved.etag ?? null
    announce(t('recordSaved', { name }), 'good', { text: t('undo'), run: () => void undo(before, version), for: HOLD_MS })
    recordsChanged()
    onClose()
  }
  return (
    <Dialog title={t('editRecord', { name })} onClose={onClose}>
      <Form submit={t('save')} busy={busy} error={error} onSubmit={(values) => void save(values)} onCancel={onClose}>
        <div class="pair">
          <Field label={t('quantity')}>
            <input name="quantity" type="number" min={Math.min(1, record.quantity)} step={1} required defaultValue={String(record.quantity)} />
          </Field>
          <Field label={t('forTrade')} hint={t('forTradeHint')}>
            <input name="for_trade" type="number" min={0} step={1} required defaultValue={String(record.for_trade)} />
          </Field>
          <Field label={t('pricePaid')}>
            <input name="purchase_price" type="number" {...PRICE_PAID} defaultValue={String(record.purchase_price ?? '')} />
          </Field>
          <Field label={t('bought')}>
            <input name="purchase_date" type="date" defaultValue={record.purchase_date ?? ''} />
          </Field>
          <Field label={t('ownCode')} hint={t('ownCodeHint')}>
            <input name="card_uniq_id" maxLength={100} autocomplete="off" defaultValue={record.card_uniq_id ?? ''} />
          </Field>
        </div>
        <Field label={termText('field', 'note')}>
          <textarea name="note" rows={3} maxLength={1_000} defaultValue={record.note ?? ''} />
        </Field>
      </Form>
    </Dialog>
  )
}

/** The entered values that differ from the record, and those that they replace. */
function changedFields(record: Fields, values: Values): { changes: Partial<Fields>; before: Partial<Fields> } {
  const entered: Fields = {
    quantity: numberIn(values.quantity) ?? record.quantity,
    for_trade: numberIn(values.for_trade) ?? record.for_trade,
    purchase_price: numberIn(values.purchase_price),
    purchase_date: values.purchase_date || null,
    card_uniq_id: values.card_uniq_id || null,
    note: values.note || null,
  }
  const names = (Object.keys(entered) as (keyof Fields)[]).filter((field) => entered[field] !== record[field])
  const only = (fields: Fields): Partial<Fields> => Object.fromEntries(names.map((field) => [field, fields[field]]))
  return { changes: only(entered), before: only(record) }
}
