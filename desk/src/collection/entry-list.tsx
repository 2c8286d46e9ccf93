// The lines of quick entry: being saved, saved with an undo, and failed with the reason, to try again or correct.
import { Picture } from '#ui/picture.tsx'
import { Refusal } from '#ui/states.tsx'
import { printingOf } from '../listing/card.ts'
import { errorOf } from '../stored-problem.ts'
import { count, t } from '../words.ts'
import { editEntry, type Entry, entries, forgetEntry, send, undoEntry } from './entries.ts'

export function EntryList({ collectionId, onEdit }: { collectionId: number; onEdit: () => void }) {
  const shown = entries.value.filter(({ line }) => line.collectionId === collectionId)
  const failed = shown.filter(({ problem }) => problem !== null)
  const sending = shown.filter(({ problem, saved }) => problem === null && saved === null)
  return (
    <>
      <p role="status" class="quiet entry-status">
        {sending.length > 0 && t('cardsBeingAdded', { count: sending.length })} {failed.length > 0 && t('cardsNotAdded', { count: failed.length })}{' '}
        {failed.length > 1 && (
          <button type="button" onClick={() => failed.forEach(({ line }) => send(line))}>
            {t('tryAllAgain')}
          </button>
        )}
      </p>
      {shown.length > 0 && (
        <ul class="entries" aria-label={t('addedCards')}>
          {shown.toReversed().map((entry) => (
            <EntryRow key={entry.line.key} of={entry} onEdit={onEdit} />
          ))}
        </ul>
      )}
    </>
  )
}

function EntryRow({ of: entry, onEdit }: { of: Entry; onEdit: () => void }) {
  const { line, problem, saved } = entry
  const { card, text, grade, quantity } = line
  const name = card?.name ?? text
  const button = (label: string, onClick: () => void, danger = false) => (
    <button type="button" class={danger ? 'danger' : ''} aria-label={`${label}: ${name}`} onClick={onClick}>
      {label}
    </button>
  )
  return (
    <li class={problem === null ? '' : 'failed'}>
      <span class="with-picture">
        {card && <Picture key={card.id} item={card} small />}
        <span>
          {count(Number(quantity))} × <strong>{name}</strong>{' '}
          <small class="quiet">{[card && printingOf(card), grade?.label].filter(Boolean).join(' · ')}</small>
        </span>
      </span>
      <span class="buttons tight">
        {problem === null && <small class="quiet">{saved ? t('added') : t('working')}</small>}
        {saved && button(t('undo'), () => void undoEntry(entry))}
        {problem !== null && (
          <>
            {button(t('tryAgain'), () => send(line))}
            {button(t('edit'), () => {
              editEntry(entry)
              onEdit()
            })}
            {button(t('discardEdits'), () => forgetEntry(entry), true)}
          </>
        )}
      </span>
      <Why of={problem} />
    </li>
  )
}

function Why({ of: problem }: { of: Entry['problem'] }) {
  if (problem === null) return null
  if (problem === 'unsent') return <p class="quiet">{t('unsentCard')}</p>
  if (problem === 'noCard') return <p role="alert">{t('noCards')}</p>
  return <Refusal error={errorOf(problem)} />
}
