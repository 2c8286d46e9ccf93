// The seller's repricing rules, in order of precedence.
import { Heading } from '#ui/heading.tsx'
import { Await, Empty, Status } from '#ui/states.tsx'
import { Table } from '#ui/table.tsx'
import type { RepricingRule } from '../../../client/src/api.ts'
import { mayWrite, useData } from '../api.ts'
import { count, lira, moment, t, termText } from '../words.ts'
import { ListingTabs } from './listings.tsx'

export function RepricingPage() {
  const rules = useData('/plus/repricing-rules')
  return (
    <>
      <Heading>{t('listings')}</Heading>
      <ListingTabs current="repricing" />
      <div class="toolbar">
        <p class="quiet lead">{t('repricingText')}</p>
        {mayWrite() && (
          <div class="actions">
            <a class="button main" href="/desk/repricing/new">
              {t('newRule')}
            </a>
          </div>
        )}
      </div>
      <Await of={rules}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty>{t('noRules')}</Empty>
          ) : (
            <Table
              caption={t('repricing')}
              rows={rows}
              rowKey={({ id }) => id}
              columns={[
                { head: t('name'), cell: ({ id, name }) => <a href={`/desk/repricing/${id}`}>{name}</a> },
                { head: t('state'), cell: ({ enabled }) => <Status code={enabled ? 'on' : 'off'} /> },
                { head: t('target'), cell: ({ target }) => targetText(target) },
                { head: t('scope'), wide: true, cell: ({ scope }) => scopeText(scope) },
                { head: t('floor'), cell: ({ floor }) => floorText(floor) },
                { head: t('lastRun'), short: true, wide: true, cell: ({ last_run_at: at }) => (at ? moment(at) : t('never')) },
              ]}
            />
          )
        }
      </Await>
    </>
  )
}

export function targetText(target: RepricingRule['target']): string {
  if (target.kind === 'cheapest') return t('targetCheapest', { amount: `${target.amount > 0 ? '+' : ''}${lira(target.amount)}` })
  const values = { factor: count(target.factor) }
  return target.kind === 'market' ? t('targetMarket', { ...values, market: termText('market', target.market) }) : t('targetMedian', values)
}

export function scopeText(scope: RepricingRule['scope']): string {
  if (scope.kind === 'listings') return t('scopeListings', { count: scope.ids.length })
  if (scope.kind === 'skus') return t('scopeSkus', { count: scope.skus.length })
  if (scope.kind === 'all') return termText('scope', 'all')
  return [scope.game, scope.category_id && `#${scope.category_id}`].filter(Boolean).join(', ')
}

export function floorText({ price, payout }: RepricingRule['floor']): string {
  const parts = [...(price === undefined ? [] : [lira(price)]), ...(payout === undefined ? [] : [t('floorPayoutOf', { amount: lira(payout) })])]
  return parts.join(', ')
}
