// Price jobs: what was planned, applied and undone, newest first.
import { Heading } from '#ui/heading.tsx'
import { Status } from '#ui/states.tsx'
import { List } from '../api.ts'
import { count, moment, t } from '../words.ts'
import { ListingTabs } from './listings.tsx'

export function PriceJobsPage() {
  return (
    <>
      <Heading>{t('listings')}</Heading>
      <ListingTabs current="price-jobs" />
      <List
        path="/plus/price-jobs"
        caption={t('priceJobs')}
        empty={t('noPriceJobs')}
        rowKey={(job) => job.id}
        columns={[
          { head: t('priceJob'), cell: (job) => <a href={`/desk/price-jobs/${job.id}`}>{t('priceJobOf', { id: String(job.id) })}</a> },
          { head: t('when'), short: true, cell: (job) => moment(job.created_at) },
          { head: t('state'), cell: (job) => <Status code={job.state} /> },
          { head: t('rows'), number: true, cell: (job) => count(job.rows_total) },
          { head: t('refused'), number: true, cell: (job) => count(job.rows_refused) },
          { head: t('changedRows'), number: true, cell: (job) => count(job.changed) },
          { head: t('keptRows'), number: true, wide: true, cell: (job) => count(job.kept) },
          { head: t('failedRows'), number: true, wide: true, cell: (job) => count(job.failed) },
        ]}
      />
    </>
  )
}
