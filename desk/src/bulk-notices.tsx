// What actions on several listings have done or are about to do: with an undo, and each listing that could not be changed or restored.
import type { ComponentChildren } from 'preact'
import { ApiError } from '#ui/api.ts'
import { Status } from '#ui/states.tsx'
import type { OwnListing } from '../../client/src/api.ts'
import { type Bulk, type BulkAction, bulks, dismissBulk, HOLD_MS, type NotRestored, undoBulk } from './bulk.ts'
import { sentence, t } from './words.ts'

export function BulkNotices() {
  return (
    <div class="bulk-notices" role="status">
      {bulks.value.map((bulk) => (
        <Notice key={bulk.id} of={bulk} />
      ))}
    </div>
  )
}

const DONE = { pause: 'bulkPaused', publish: 'bulkPublished', renew: 'bulkRenewed', delete: 'bulkDeleted', sku: 'bulkSkusSaved' } as const

function Notice({ of: bulk }: { of: Bulk }) {
  const { id, action, step, changed, failures, notRestored } = bulk
  const canUndo = step === 'held' || (step === 'done' && changed.length > 0 && isUndoable(action))
  return (
    <section class={`notice${failures.length + notRestored.length > 0 ? ' bad' : ''}`} aria-label={textOf(bulk)}>
      <p>
        {textOf(bulk)}{' '}
        {canUndo && (
          <button type="button" onClick={() => void undoBulk(bulk)}>
            {t('undo')}
          </button>
        )}
        {step !== 'held' && step !== 'running' && step !== 'undoing' && (
          <button type="button" class="plain" aria-label={t('close')} onClick={() => dismissBulk(id)}>
            ×
          </button>
        )}
      </p>
      {step === 'done' && failures.length > 0 && (
        <Reasons title={t('bulkFailed', { count: failures.length })}>
          {failures.map(({ listing, error }) => (
            <Reason key={listing.id} of={listing}>
              {sentence(error)}
            </Reason>
          ))}
        </Reasons>
      )}
      {notRestored.length > 0 && (
        <Reasons title={t('notRestored', { count: notRestored.length })}>
          {notRestored.map(({ listing, why }) => (
            <Reason key={listing.id} of={listing}>
              <Why of={why} />
            </Reason>
          ))}
        </Reasons>
      )}
    </section>
  )
}

/** Others can only be stopped before they run. */
function isUndoable(action: BulkAction): boolean {
  return action === 'pause' || action === 'publish' || action === 'sku'
}

function textOf({ action, step, targets, changed, notRestored }: Bulk): string {
  const total = targets.length
  switch (step) {
    case 'held':
      return t(action === 'delete' ? 'heldDelete' : 'heldRenew', { seconds: HOLD_MS / 1_000, count: total })
    case 'running':
    case 'undoing':
      return t('working')
    case 'done':
      return t(DONE[action], { done: changed.length, total })
    case 'undone':
      return t('bulkUndone', { done: changed.length - notRestored.length, total: changed.length })
    case 'cancelled':
      return t('bulkCancelled', { count: total })
  }
}

function Reasons({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <>
      <p>{title}</p>
      <ul>{children}</ul>
    </>
  )
}

function Reason({ of: { title }, children }: { of: OwnListing; children: ComponentChildren }) {
  return (
    <li>
      <strong>{title}</strong> {children}
    </li>
  )
}

function Why({ of: why }: { of: NotRestored['why'] }) {
  if (why instanceof ApiError) return <>{why.status === 412 ? t('changedSince') : sentence(why)}</>
  return (
    <>
      {why.status === 'pending' ? t('approvalStays') : t('otherState')} <Status code={why.status} />
    </>
  )
}
