// How an import stands: under way, done, or done with much of it rejected.
import { Progress, Status } from '#ui/states.tsx'
import type { Import } from '../api-types.ts'
import { share, t } from '../words.ts'

/** Share of rejected rows from which an import is shown in amber: then the file, or its format, is probably the wrong one. */
const MUCH_REJECTED = 0.1

/** Whether an import waits for its turn or runs. */
export const isUnderWay = ({ status }: Pick<Import, 'status'>) => status === 'queued' || status === 'running'

/** The share of rows that a finished import rejected, null if it is not much. */
export function muchRejected({ status, rejected, rows_read: read }: Pick<Import, 'status' | 'rejected' | 'rows_read'>): number | null {
  const refused = Math.min(1, rejected / Math.max(1, read))
  return status === 'done' && refused > MUCH_REJECTED ? refused : null
}

export function ImportState({ of }: { of: Import }) {
  if (of.status === 'running') return <Progress percent={of.percent} label={t('importProgress')} />
  const much = muchRejected(of)
  return (
    <>
      <Status code={of.status} {...(much !== null && { tone: 'wait' })} />{' '}
      {much !== null && <span class="quiet">{t('shareRejected', { share: share(much) })}</span>}{' '}
      {of.dry_run && <span class="status">{t('dryRun')}</span>}
      {of.reverted_by_import_id !== null && <span class="status bad">{t('reverted')}</span>}
    </>
  )
}
