// Price jobs that were planned, applied and undone, newest first, and a form that plans one from a file.
import { useLocation } from 'preact-iso'
import { Field } from '#ui/dialog.tsx'
import { FileForm } from '#ui/file-form.tsx'
import { Heading } from '#ui/heading.tsx'
import { Status } from '#ui/states.tsx'
import type { PriceJobSummary } from '../../../client/src/api.ts'
import { List, mayWrite, useUpload } from '../api.ts'
import { count, moment, t, termText } from '../words.ts'
import { ListingTabs } from './listings.tsx'
import { RuleLink } from './price-job.tsx'

const POLICIES = ['good_rows', 'all'] as const

export function PriceJobsPage() {
  return (
    <>
      <Heading>{t('listings')}</Heading>
      <ListingTabs current="price-jobs" />
      {mayWrite() && <PlanByFile />}
      <Jobs />
    </>
  )
}

/** The runs of a repricing rule, or all price jobs. */
export function Jobs({ ruleId, version }: { ruleId?: number; version?: number }) {
  return (
    <List
      path="/plus/price-jobs"
      {...(ruleId !== undefined && { fixed: { rule_id: ruleId } })}
      {...(version !== undefined && { version })}
      caption={ruleId === undefined ? t('priceJobs') : t('runs')}
      empty={ruleId === undefined ? t('noPriceJobs') : t('noRuns')}
      rowKey={(job) => job.id}
      columns={[
        { head: t('priceJob'), cell: (job) => <Job of={job} isRun={ruleId !== undefined} /> },
        { head: t('when'), short: true, cell: (job) => moment(job.created_at) },
        { head: t('state'), cell: (job) => <Status code={job.state} /> },
        { head: t('rows'), number: true, cell: (job) => count(job.rows_total) },
        { head: t('refused'), number: true, cell: (job) => count(job.rows_refused) },
        { head: t('changedRows'), number: true, cell: (job) => count(job.changed) },
        { head: t('keptRows'), number: true, wide: true, cell: (job) => count(job.kept) },
        { head: t('failedRows'), number: true, wide: true, cell: (job) => count(job.failed) },
      ]}
    />
  )
}

function Job({ of: { id, rule_id: rule }, isRun }: { of: PriceJobSummary; isRun: boolean }) {
  return (
    <>
      <a href={`/desk/price-jobs/${id}`}>{t('priceJobOf', { id: String(id) })}</a> {rule !== null && !isRun && <RuleLink id={rule} />}
    </>
  )
}

function PlanByFile() {
  const { busy, error, write } = useUpload()
  const { route } = useLocation()
  const plan = async (file: File, policy: string) => {
    const planned = await write('/plus/price-jobs', file, { policy })
    if (planned) route(`/desk/price-jobs/${planned.data.id}`)
  }
  return (
    <FileForm
      label={t('pricesByFile')}
      hint={t('pricesByFileHint')}
      submit={t('review')}
      busy={busy}
      error={error}
      onSubmit={(file, { policy }) => void plan(file, policy!)}
    >
      <Field label={t('policy')}>
        <select name="policy">
          {POLICIES.map((code) => (
            <option key={code} value={code}>
              {termText('policy', code)}
            </option>
          ))}
        </select>
      </Field>
    </FileForm>
  )
}
