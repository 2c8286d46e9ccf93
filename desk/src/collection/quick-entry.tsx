// Adds cards to a collection by keyboard: a code, number or name, then one key each for condition, printing and quantity; nothing blocks the next.
import { useEffect, useRef, useState } from 'preact/hooks'
import { Field } from '#ui/dialog.tsx'
import { Options } from '#ui/options.tsx'
import { Picture } from '#ui/picture.tsx'
import type { GradeGroup } from '../../../client/src/api.ts'
import { useData } from '../api.ts'
import { type Card, printingOf } from '../listing/card.ts'
import { CardSearch } from '../listing/card-search.tsx'
import { t } from '../words.ts'
import { addLine, chooseDirect, draft, type Grade, isDirect, loadEntries, setDraft } from './entries.ts'
import { EntryList } from './entry-list.tsx'

/** Limits of the service. */
const MAX_QUANTITY = 100_000
export const PRICE_PAID = { min: 0, max: 9_999_999_999.99, step: 0.01 }

export function QuickEntry({ collectionId }: { collectionId: number }) {
  useState(() => loadEntries(collectionId))
  const search = useRef<HTMLInputElement>(null)
  const { card, printings } = draft.value
  // Loaded once: the form below starts anew with each card.
  const groups = useData('/groups')
  const focusSearch = () => search.current?.focus()
  const choose = (chosen: Card, found: readonly Card[]) => {
    setDraft({ card: chosen, printings: found.filter((one) => isSameCard(one, chosen)) })
    if (isDirect.value) addLine({ card: chosen, text: '' })
  }
  const addText = (text: string) => addLine({ card: null, text })
  return (
    <section class="quick-entry" aria-labelledby="quick-entry">
      <h2 id="quick-entry">{t('addCards')}</h2>
      <div class="entry-form">
        <CardSearch input={search} onChoose={choose} onText={isDirect.value ? addText : undefined} />
        <DetailsForm
          key={card?.name}
          card={card}
          printings={printings}
          groups={groups.data ?? []}
          isReady={!groups.loading}
          onAdd={() => {
            if (card) addLine({ card, text: '' })
            focusSearch()
          }}
          onDrop={() => {
            setDraft({ card: null, printings: [] })
            focusSearch()
          }}
        />
      </div>
      <label class="check">
        <input type="checkbox" checked={isDirect.value} onChange={({ currentTarget }) => chooseDirect(currentTarget.checked)} /> {t('addDirectly')}
      </label>
      <EntryList collectionId={collectionId} onEdit={focusSearch} />
    </section>
  )
}

/** Printings of a card are items of their own. */
function isSameCard(one: Card, other: Card): boolean {
  return one.name === other.name && one.code === other.code && one.set === other.set
}

interface DetailsFormProps {
  card: Card | null
  printings: readonly Card[]
  groups: readonly GradeGroup[]
  /** whether the groups have been loaded, or cannot be */
  isReady: boolean
  onAdd: () => void
  /** the card is not the one that was meant */
  onDrop: () => void
}

function DetailsForm({ card, printings, groups, isReady, onAdd, onDrop }: DetailsFormProps) {
  const { grade, quantity, price } = draft.value
  const grades = groups.flatMap(({ types }) => types)
  const quantityInput = useRef<HTMLInputElement>(null)
  const [chosenByKey, setChosenByKey] = useState('')
  const cardId = card?.id
  const wasChosen = useRef(false)
  useEffect(() => {
    // A key for a grade would have no effect before the grades are there. Another printing of the card leaves the focus where it is.
    const isChosen = isReady && cardId !== undefined
    if (isChosen && !wasChosen.current) quantityInput.current?.select()
    wasChosen.current = isChosen
  }, [cardId, isReady])
  const onKey = (event: KeyboardEvent) => {
    const { key, ctrlKey, altKey, metaKey } = event
    if (ctrlKey || altKey || metaKey) return
    const isLetter = key.length === 1 && key.toLowerCase() !== key.toUpperCase()
    if (isLetter) {
      const next = nextGrade(grades, grade, key)
      if (next) setDraft({ grade: next })
      setChosenByKey(next?.label ?? '')
    } else if (key === ' ' && card) {
      const next = nextPrinting(printings, card)
      setDraft({ card: next })
      setChosenByKey(next.finish ?? '')
    } else if (key === 'Escape' && card) onDrop()
    else return
    event.preventDefault()
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        onAdd()
      }}
    >
      <p class="with-picture entry-card">
        {card && <Picture key={card.id} item={card} small />}
        <span>
          {card ? <strong>{card.name}</strong> : <span class="quiet">{t('noCardChosen')}</span>}{' '}
          <small class="quiet">{card && printingOf(card)}</small>
        </span>
      </p>
      <div class="entry-fields">
        <Field label={t('quantity')}>
          <input
            ref={quantityInput}
            type="number"
            name="quantity"
            inputMode="numeric"
            min={1}
            max={MAX_QUANTITY}
            step={1}
            required
            aria-describedby="entry-keys"
            value={quantity}
            onInput={({ currentTarget }) => setDraft({ quantity: currentTarget.value })}
            onKeyDown={onKey}
          />
        </Field>
        <Field label={t('grade')}>
          <select
            name="grade"
            value={String(grade?.id ?? '')}
            onChange={({ currentTarget: { value } }) => setDraft({ grade: grades.find(({ id }) => String(id) === value) ?? null })}
          >
            <option value="">{t('notStated')}</option>
            {grade && grades.length === 0 && <option value={grade.id}>{grade.label}</option>}
            {groups.map(({ id, name, types }) => (
              <optgroup key={id} label={name}>
                <Options of={types.map((type) => ({ value: String(type.id), text: type.label }))} selected={String(grade?.id ?? '')} />
              </optgroup>
            ))}
          </select>
        </Field>
        <Field label={t('printing')}>
          <select
            name="printing"
            disabled={printings.length < 2}
            onChange={({ currentTarget: { value } }) => setDraft({ card: printings.find(({ id }) => String(id) === value) ?? card })}
          >
            <Options of={printings.map(({ id, finish }) => ({ value: String(id), text: finish ?? t('notStated') }))} selected={String(card?.id)} />
          </select>
        </Field>
        <Field label={t('pricePaid')}>
          <input type="number" name="price" {...PRICE_PAID} value={price} onInput={({ currentTarget }) => setDraft({ price: currentTarget.value })} />
        </Field>
        <button type="submit" class="main" disabled={card === null}>
          {t('addCard')}
        </button>
      </div>
      <small id="entry-keys" class="quiet">
        {t('entryKeys')}
      </small>
      <span class="hidden" role="status">
        {chosenByKey}
      </span>
    </form>
  )
}

/** The next grade whose label starts with the letter, after the current one. */
function nextGrade(grades: readonly Grade[], current: Grade | null, letter: string): Grade | undefined {
  const starting = grades.filter(({ label }) => label.toLowerCase().startsWith(letter.toLowerCase()))
  const next = starting[(starting.findIndex(({ id }) => id === current?.id) + 1) % Math.max(1, starting.length)]
  return next && { id: next.id, label: next.label }
}

function nextPrinting(printings: readonly Card[], current: Card): Card {
  return printings[(printings.findIndex(({ id }) => id === current.id) + 1) % Math.max(1, printings.length)] ?? current
}
