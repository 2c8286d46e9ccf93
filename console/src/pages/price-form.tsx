// Sets a price of an item manually, or corrects the current one.
import { Dialog, Field, Form, type Values } from '#ui/dialog.tsx'
import { Options } from '#ui/options.tsx'
import { announce } from '#ui/toasts.tsx'
import { useWrite } from '../api.ts'
import { marketOptions } from '../ui/market-options.ts'
import { t } from '../words.ts'
import { type Market, priceText } from './prices.ts'

/** The service's own prices are computed from its sales. */
const settable = () => marketOptions().filter(({ value }) => value !== 'service')

interface PriceFormProps {
  itemId: number
  /** the price to correct; null for a new one */
  price: { market: Market; label: string; price: number } | null
  onClose: () => void
  onSaved: () => void
}

export function PriceForm({ itemId, price, onClose, onSaved }: PriceFormProps) {
  const { busy, error, write } = useWrite()
  const submit = async ({ market, label, amount, reason }: Values) => {
    const newPrice = { market: price?.market ?? market!, label: price?.label ?? label!, price: Number(amount), reason }
    const set = await write('POST', `/items/${itemId}/prices`, newPrice)
    if (!set) return
    announce(t('priceSet', { label: set.data.label, price: priceText(set.data.price, set.data.market) }))
    onSaved()
  }
  return (
    <Dialog title={price ? t('correctPrice', { label: price.label }) : t('newPrice')} onClose={onClose}>
      <Form submit={t('save')} busy={busy} error={error} onSubmit={(values) => void submit(values)} onCancel={onClose}>
        <p>{t('setPriceText')}</p>
        {!price && (
          <div class="pair">
            <Field label={t('source')}>
              <select name="market">
                <Options of={settable()} />
              </select>
            </Field>
            <Field label={t('label')}>
              <input name="label" maxLength={40} defaultValue="Near Mint" required />
            </Field>
          </div>
        )}
        <Field label={t('price')}>
          <input name="amount" type="number" min="0.01" step="0.01" defaultValue={price?.price} required />
        </Field>
        <Field label={t('reason')} hint={t('priceReasonHint')}>
          <input name="reason" maxLength={200} />
        </Field>
      </Form>
    </Dialog>
  )
}
