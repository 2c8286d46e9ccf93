// Status of an import: queued or running, done, or done with many rows rejected.
import { Progress, Status } from '#ui/states.tsx'
import type { Import } from '../api-types.ts'
import { share, t } from '../words.ts'

/** Share of rejected rows above which an import is shown in amber: the file or its format is probably wrong. */
const HIGH_REJECTED_SHARE = 0.1

/** Whether an import is queued or running. */
export const isInProgress = ({ status }: Pick<Import, 'status'>) => status === 'queued' || status === 'running'

/** The share of rows that a finished import rejected; null if it is low. */
export function highRejectedShare({ status, rejected, rows_read: read }: Pick<Import, 'status' | 'rejected' | 'rows_read'>): number | null {
  const refused = Math.min(1, rejected / Math.max(1, read))
  return status === 'done' && refused > HIGH_REJECTED_SHARE ? refused : null
}

export function ImportState({ of }: { of: Import }) {
  if (of.status === 'running') return <Progress percent={of.percent} label={t('importProgress')} />
  const much = highRejectedShare(of)
  return (
    <>
      <Status code={of.status} {...(much !== null && { tone: 'wait' })} />{' '}
      {much !== null && <span class="quiet">{t('shareRejected', { share: share(much) })}</span>}{' '}
      {of.dry_run && <span class="status">{t('dryRun')}</span>}
      {of.reverted_by_import_id !== null && <span class="status bad">{t('reverted')}</span>}
    </>
  )
}
