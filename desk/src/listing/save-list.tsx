// Listings being saved in the background, and those whose save failed, to try again or edit.
import { Refusal } from '#ui/states.tsx'
import { errorOf } from '../stored-problem.ts'
import { count, lira, t } from '../words.ts'
import { printingOf } from './card.ts'
import { type Draft, editSave, forgetSave, type Save, saveInBackground, saves } from './drafts.ts'
import { numberIn } from './listing-fields.tsx'

export function SaveList({ onEdit }: { onEdit: () => void }) {
  const sending = saves.value.filter(({ problem }) => problem === null).length
  const unsaved = saves.value.filter(({ problem }) => problem !== null)
  return (
    <>
      <p role="status" class="quiet">
        {sending > 0 && t('savingCount', { count: sending })}
      </p>
      {unsaved.length > 0 && (
        <section aria-label={t('unsavedListings')}>
          <h2>
            {t('unsavedListings')} <span class="quiet">{count(unsaved.length)}</span>
          </h2>
          <ul class="unsaved">
            {unsaved.map((save) => (
              <Unsaved
                key={save.draft.key}
                of={save}
                onEdit={() => {
                  editSave(save.draft)
                  onEdit()
                }}
              />
            ))}
          </ul>
        </section>
      )}
    </>
  )
}

function Unsaved({ of: { draft, problem }, onEdit }: { of: Save; onEdit: () => void }) {
  const name = nameOf(draft)
  const button = (text: string, onClick: () => void, danger = false) => (
    <button type="button" class={danger ? 'danger' : ''} aria-label={`${text}: ${name}`} onClick={onClick}>
      {text}
    </button>
  )
  return (
    <li class="panel">
      <p>
        <strong>{name}</strong> <span class="quiet">{detailsOf(draft)}</span>
      </p>
      {problem === 'unsent' || problem === null ? <p class="quiet">{t('unsentText')}</p> : <Refusal error={errorOf(problem)} />}
      <span class="buttons tight">
        {button(t('tryAgain'), () => void saveInBackground(draft))}
        {button(t('edit'), onEdit)}
        {button(t('discardEdits'), () => forgetSave(draft), true)}
      </span>
    </li>
  )
}

function nameOf({ card, values }: Draft): string {
  return values.title || card?.name || ''
}

function detailsOf({ card, values }: Draft): string {
  const price = numberIn(values.price)
  return [card && printingOf(card), values.label, price !== null && lira(price)].filter(Boolean).join(' · ')
}
