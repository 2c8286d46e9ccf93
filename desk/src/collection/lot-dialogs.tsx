// Dialogs that add a lot or a disposal to a record.
import { Dialog, Field, Form, type Values } from '#ui/dialog.tsx'
import { Options } from '#ui/options.tsx'
import { announce } from '#ui/toasts.tsx'
import { sessions, useWrite } from '../api.ts'
import { numberIn } from '../listing/listing-fields.tsx'
import { t, termText } from '../words.ts'
import { PRICE_PAID } from './quick-entry.tsx'
import { recordsChanged } from './record-changes.ts'

/** How copies are acquired, except by an order in the market, which adds its lot itself. */
const SOURCES = ['bought', 'pulled', 'traded', 'gift']

export interface OfRecord {
  collectionId: number
  recordId: number
  name: string
}

interface EntryDialogProps {
  of: OfRecord
  onClose: () => void
}

export function LotDialog({ of: { collectionId, recordId, name }, onClose }: EntryDialogProps) {
  const { busy, error, write } = useWrite()
  const save = async (values: Values) => {
    const { acquired_at: day, unit_cost: cost, source = '' } = values
    const body = { ...sharedFields(values), unit_cost: numberIn(cost), source, ...(day && { acquired_at: day }) }
    if (!(await write('POST', `/plus/collections/${collectionId}/items/${recordId}/lots`, body))) return
    announce(t('lotAdded', { name }))
    recordsChanged()
    onClose()
  }
  return (
    <Dialog title={t('addLotTo', { name })} onClose={onClose}>
      <Form submit={t('addLot')} busy={busy} error={error} onSubmit={(values) => void save(values)} onCancel={onClose}>
        <div class="pair">
          <DayField name="acquired_at" label={t('bought')} />
          <QuantityField />
          <Field label={t('pricePaid')} hint={t('unitCostHint')}>
            <input name="unit_cost" type="number" {...PRICE_PAID} />
          </Field>
          <AmountField name="fees" label={t('fees')} hint={t('allCopies')} />
          <CurrencyField />
          <Field label={t('lotSource')}>
            <select name="source">
              <Options of={SOURCES.map((code) => ({ value: code, text: termText('lotSource', code) }))} />
            </select>
          </Field>
        </div>
      </Form>
    </Dialog>
  )
}

/** @param of `owned`: copies that can be disposed of */
export function DisposalDialog({ of: { collectionId, recordId, name, owned }, onClose }: EntryDialogProps & { of: OfRecord & { owned: number } }) {
  const { busy, error, write } = useWrite()
  const save = async (values: Values) => {
    const { at, gross, shipping } = values
    const amounts = { gross: numberIn(gross) ?? 0, shipping: numberIn(shipping) ?? 0 }
    const body = { ...sharedFields(values), ...amounts, ...(at && { at }) }
    if (!(await write('POST', `/plus/collections/${collectionId}/items/${recordId}/disposals`, body))) return
    announce(t('disposalAdded', { name }))
    recordsChanged()
    onClose()
  }
  return (
    <Dialog title={t('addDisposalOf', { name })} onClose={onClose}>
      <Form submit={t('addDisposal')} busy={busy} error={error} onSubmit={(values) => void save(values)} onCancel={onClose}>
        <div class="pair">
          <DayField name="at" label={t('day')} />
          <QuantityField hint={t('copiesYouHave', { count: owned })} />
          <AmountField name="gross" label={t('received')} hint={t('receivedHint')} required />
          <AmountField name="fees" label={t('fees')} hint={t('allCopies')} />
          <AmountField name="shipping" label={t('shipping')} hint={t('allCopies')} />
          <CurrencyField />
        </div>
      </Form>
    </Dialog>
  )
}

function sharedFields({ quantity, fees, currency = '' }: Values) {
  return { quantity: numberIn(quantity) ?? 1, fees: numberIn(fees) ?? 0, currency }
}

function DayField({ name, label }: { name: string; label: string }) {
  return (
    <Field label={label} hint={t('todayIfEmpty')}>
      <input name={name} type="date" />
    </Field>
  )
}

function QuantityField({ hint }: { hint?: string }) {
  return (
    <Field label={t('quantity')} {...(hint !== undefined && { hint })}>
      <input name="quantity" type="number" min={1} step={1} required defaultValue="1" />
    </Field>
  )
}

interface AmountFieldProps {
  name: string
  label: string
  hint: string
  required?: boolean
}

function AmountField({ name, label, hint, required = false }: AmountFieldProps) {
  return (
    <Field label={label} hint={hint}>
      <input name={name} type="number" {...PRICE_PAID} required={required} />
    </Field>
  )
}

function CurrencyField() {
  const own = sessions.session.value!.currencies
  const codes = [...new Set([own.service ?? 'TRY', 'TRY', 'USD', 'EUR', ...Object.values(own)])]
  return (
    <Field label={t('currency')}>
      <select name="currency">
        <Options of={codes.map((code) => ({ value: code, text: code }))} />
      </select>
    </Field>
  )
}
