// One price job: the effect of each row before it is applied, the result, and undo.
import { useRoute } from 'preact-iso'
import { Heading } from '#ui/heading.tsx'
import { RowPages } from '#ui/row-pages.tsx'
import { Await, Facts, FieldProblem, Refusal, Status } from '#ui/states.tsx'
import { announce } from '#ui/toasts.tsx'
import type { PriceJob, PriceJobRow } from '../../../client/src/api.ts'
import { mayWrite, useData, useWrite } from '../api.ts'
import { forgetEditsOf } from '../edits.ts'
import { ListingTitle } from '../listing-title.tsx'
import { Change, confirmPrices, PriceWarnings } from '../price-check.tsx'
import { count, lira, moment, refusalText, t } from '../words.ts'

export function PriceJobPage() {
  const id = Number(useRoute().params.id)
  const job = useData(`/plus/price-jobs/${id}`)
  const { busy, error, write } = useWrite()
  const apply = async ({ rows }: PriceJob) => {
    const risky = rows.filter(isRisky)
    if (risky.length > 0 && !(await confirmRisky(risky))) return
    const applied = await write('POST', `/plus/price-jobs/${id}/apply`)
    if (applied) {
      forgetEditsOf(
        rows.flatMap(({ listing_id: listing }) => listing ?? []),
        'planned',
      )
      announce(t('jobApplied', { count: applied.data.changed }))
    }
    job.reload()
  }
  const undo = async () => {
    const undone = await write('POST', `/plus/price-jobs/${id}/undo`)
    if (undone) announce(t('jobUndone', { count: undone.data.reversed }))
    job.reload()
  }
  return (
    <>
      <p class="trail">
        <a href="/desk">{t('listings')}</a>
        <a href="/desk/price-jobs">{t('priceJobs')}</a>
      </p>
      <Await of={job} title={t('priceJobOf', { id: String(id) })}>
        {(row) => (
          <>
            <div class="head">
              <Heading>{t('priceJobOf', { id: String(row.id) })}</Heading>
              {mayWrite() && (
                <div class="actions">
                  {row.state === 'planned' && (
                    <button type="button" class="main" disabled={busy || !appliesAny(row)} onClick={() => void apply(row)}>
                      {t('applyCount', { count: row.rows_total - row.rows_refused })}
                    </button>
                  )}
                  {row.state === 'applied' && (
                    <button type="button" disabled={busy} onClick={() => void undo()}>
                      {t('undo')}
                    </button>
                  )}
                </div>
              )}
            </div>
            <Refusal error={error} />
            <JobFacts of={row} />
            <Rows of={row} />
          </>
        )}
      </Await>
    </>
  )
}

/** Whether the row sets a price that the seller should check. */
function isRisky({ refused, warnings }: PriceJobRow): boolean {
  return refused === null && warnings.length > 0
}

function confirmRisky(rows: readonly PriceJobRow[]): Promise<boolean> {
  const prices = rows.map((row) => ({
    key: row.row,
    name: <Named of={row} />,
    old: row.old_price,
    price: row.new_price,
    warnings: row.warnings,
  }))
  return confirmPrices(prices, { title: t('riskyTitle', { count: rows.length }), text: t('riskyText'), action: t('applyAnyway') })
}

export function RuleLink({ id }: { id: number }) {
  return <a href={`/desk/repricing/${id}`}>{t('ruleOf', { id: String(id) })}</a>
}

/** With the policy `all`, one rejected row prevents all others. */
function appliesAny({ policy, rows_total: total, rows_refused: refused }: PriceJob): boolean {
  return policy === 'all' ? refused === 0 : refused < total
}

function JobFacts({ of: job }: { of: PriceJob }) {
  const since = { planned: job.created_at, applied: job.applied_at, undone: job.undone_at, expired: job.expires_at }[job.state]
  const isPlan = job.state === 'planned' || job.state === 'expired'
  return (
    <Facts
      brief
      rows={[
        [t('state'), <Status key="state" code={job.state} />],
        [t('when'), since && moment(since)],
        [t('repricingRule'), job.rule_id && <RuleLink key="rule" id={job.rule_id} />],
        [t('rows'), count(job.rows_total)],
        [t('refused'), count(job.rows_refused)],
        [t('ignoredColumns'), job.ignored_columns.join(', ') || null],
        [t('appliesUntil'), job.state === 'planned' ? moment(job.expires_at) : null],
        [t('changedRows'), isPlan ? null : count(job.changed)],
        [t('reversedRows'), job.state === 'undone' ? count(job.reversed) : null],
        [t('keptRows'), isPlan ? null : count(job.kept)],
        [t('failedRows'), isPlan ? null : count(job.failed)],
      ]}
    />
  )
}

/** Rows that cannot be applied come first, then those to check. */
function Rows({ of: { rows } }: { of: PriceJob }) {
  const place = (row: PriceJobRow) => (row.refused ? 0 : isRisky(row) ? 1 : 2)
  const ordered = rows.toSorted((a, b) => place(a) - place(b))
  return (
    <RowPages
      caption={t('rows')}
      rows={ordered}
      rowKey={(row) => row.row}
      columns={[
        { head: t('listing'), cell: (row) => <Named of={row} /> },
        { head: t('price'), number: true, cell: (row) => <Change from={row.old_price} to={row.new_price} show={lira} /> },
        { head: t('marketPrice'), number: true, cell: (row) => (row.market_price === null ? '–' : lira(row.market_price)) },
        { head: t('stock'), number: true, cell: (row) => <Change from={row.old_quantity} to={row.new_quantity} show={count} /> },
        { head: t('payout'), number: true, cell: (row) => (row.payout === null ? '–' : lira(row.payout)) },
        { head: t('rank'), number: true, wide: true, cell: (row) => (row.rank === null ? '–' : count(row.rank)) },
        { head: t('result'), cell: (row) => <Result of={row} /> },
      ]}
    />
  )
}

function Named({ of: { listing_id: id, sku, row } }: { of: PriceJobRow }) {
  return (
    <>
      {id === null ? t('lineNumber', { number: row }) : <ListingTitle id={id} />} {sku !== null && <span class="quiet">{sku}</span>}
    </>
  )
}

function Result({ of: { refused, outcome, why, reason, warnings } }: { of: PriceJobRow }) {
  if (refused) {
    return (
      <ul class="why">
        {refused.map((problem) => (
          <li key={problem.field}>
            <Status code="refused" /> <FieldProblem of={problem} />
          </li>
        ))}
      </ul>
    )
  }
  return (
    <>
      {outcome && <Status code={outcome} />} {why && <span class="quiet">{refusalText(why)}</span>}
      {(outcome === null || reason !== null) && <PriceWarnings of={warnings} />}
      {reason && <p class="quiet">{refusalText(reason)}</p>}
    </>
  )
}
