// Forms of watches: a new one for a card, and the amount of an existing one.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Dialog, Field, Form, type Values } from '#ui/dialog.tsx'
import { Options } from '#ui/options.tsx'
import { announce } from '#ui/toasts.tsx'
import type { ItemWatch } from '../../../client/src/api.ts'
import { sessions, useData, useWrite } from '../api.ts'
import { t, termText } from '../words.ts'
import { watchesChanged } from './watch-changes.ts'

const CARD_KINDS = ['offer_below', 'price_below', 'price_above'] as const
export const WATCH_KINDS = [...CARD_KINDS, 'goal_reopened'] as const
type Kind = (typeof CARD_KINDS)[number]

/** Limits of the service, so that the browser reports what a request would. */
const AMOUNT = { min: 0.01, max: 9_999_999_999.99, step: 0.01 }
const OFFER_CURRENCY = 'TRY'
const NEAR_MINT = 'Near Mint'

export interface WatchedCard {
  id: number
  name: string
}

interface WatchFormProps {
  /** null until one is chosen */
  card: WatchedCard | null
  /** what the amount starts with */
  amount?: number | null
  /** called instead of saving while no card is chosen */
  onNoCard?: () => void
  onSaved: () => void
  onCancel?: () => void
  children?: ComponentChildren
}

export function WatchForm({ card, amount = null, onNoCard, onSaved, onCancel, children }: WatchFormProps) {
  const { busy, error, write } = useWrite()
  const [kind, setKind] = useState<Kind>(CARD_KINDS[0])
  const groups = useData('/groups')
  const isOffer = kind === 'offer_below'
  const save = async (values: Values) => {
    if (!card) return onNoCard?.()
    const { label = '', currency = OFFER_CURRENCY } = values
    const saved = await write('PUT', '/plus/watches', { kind, item_id: card.id, label: label || null, amount: Number(values.amount), currency })
    if (!saved) return
    announce(t('watchSaved', { name: card.name }))
    watchesChanged()
    onSaved()
  }
  return (
    <Form submit={t('saveWatch')} busy={busy} error={error} onSubmit={(values) => void save(values)} {...(onCancel && { onCancel })}>
      {children}
      <div class="pair">
        <Field label={t('watchFor')}>
          <select name="kind" value={kind} onChange={({ currentTarget: { value } }) => setKind(value as Kind)}>
            <Options of={CARD_KINDS.map((code) => ({ value: code, text: termText('watchKind', code) }))} />
          </select>
        </Field>
        <Field label={t('grade')}>
          <select name="label" key={String(isOffer)}>
            {isOffer && <option value="">{t('anyLabel')}</option>}
            {!groups.data && !isOffer && <option value={NEAR_MINT}>{NEAR_MINT}</option>}
            {(groups.data ?? []).map(({ id, name, types }) => (
              <optgroup key={id} label={name}>
                <Options of={types.map(({ label }) => ({ value: label, text: label }))} selected={isOffer ? '' : NEAR_MINT} />
              </optgroup>
            ))}
          </select>
        </Field>
        <Field label={t('watchAmount')}>
          <input name="amount" type="number" inputMode="decimal" {...AMOUNT} required defaultValue={amount === null ? '' : String(amount)} />
        </Field>
        <Field label={t('currency')}>
          <select name="currency" key={String(isOffer)}>
            <Options of={(isOffer ? [OFFER_CURRENCY] : currencies()).map((code) => ({ value: code, text: code }))} />
          </select>
        </Field>
      </div>
    </Form>
  )
}

/** Currencies of price sources, the lira first. */
function currencies(): string[] {
  const found = new Set(Object.values(sessions.session.value?.currencies ?? {}))
  return [...found].sort((a, b) => Number(b === OFFER_CURRENCY) - Number(a === OFFER_CURRENCY) || a.localeCompare(b))
}

export function NewWatchDialog({ card, amount, onClose }: { card: WatchedCard; amount: number | null; onClose: () => void }) {
  return (
    <Dialog title={t('watchCard', { name: card.name })} onClose={onClose}>
      <WatchForm card={card} amount={amount} onSaved={onClose} onCancel={onClose}>
        <p class="quiet">{t('watchText')}</p>
      </WatchForm>
    </Dialog>
  )
}

export function ChangeWatchDialog({ of: watch, onClose }: { of: ItemWatch; onClose: () => void }) {
  const { busy, error, write } = useWrite()
  const save = async ({ amount }: Values) => {
    if (!(await write('PUT', `/plus/watches/${watch.id}`, { amount: Number(amount) }))) return
    announce(t('watchSaved', { name: watch.item_name }))
    watchesChanged()
    onClose()
  }
  return (
    <Dialog title={t('changeWatch', { name: watch.item_name })} onClose={onClose}>
      <Form submit={t('save')} busy={busy} error={error} onSubmit={(values) => void save(values)} onCancel={onClose}>
        <p class="quiet">{[termText('watchKind', watch.kind), watch.label ?? t('anyLabel'), watch.currency].join(' · ')}</p>
        <Field label={t('watchAmount')}>
          <input name="amount" type="number" inputMode="decimal" {...AMOUNT} required defaultValue={String(watch.amount)} />
        </Field>
      </Form>
    </Dialog>
  )
}
