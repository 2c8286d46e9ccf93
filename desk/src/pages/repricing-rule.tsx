// One repricing rule: created and edited, simulated before it is enabled, run now, and its runs with reasons and undo.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useLocation, useRoute } from 'preact-iso'
import { useVersion } from '#ui/data.ts'
import { confirm } from '#ui/dialog.tsx'
import { Heading } from '#ui/heading.tsx'
import { RowPages } from '#ui/row-pages.tsx'
import { Await, Empty, Facts, Refusal, Status } from '#ui/states.tsx'
import { Table } from '#ui/table.tsx'
import { announce } from '#ui/toasts.tsx'
import type { RepricedListing, RepricingRule, RepricingSimulation } from '../../../client/src/api.ts'
import { mayWrite, useData, useWrite } from '../api.ts'
import { ListingTitle } from '../listing-title.tsx'
import { confirmPrices, PriceWarnings } from '../price-check.tsx'
import { calendarDay, count, lira, moment, refusalText, t, termText } from '../words.ts'
import { Jobs } from './price-jobs.tsx'
import { floorText, scopeText, targetText } from './repricing.tsx'
import { RuleForm, type RuleTerms } from './rule-form.tsx'

function Trail() {
  return (
    <p class="trail">
      <a href="/desk">{t('listings')}</a>
      <a href="/desk/repricing">{t('repricing')}</a>
    </p>
  )
}

export function NewRulePage() {
  const { busy, error, write } = useWrite()
  const { route } = useLocation()
  const create = async (terms: RuleTerms) => {
    const created = await write('POST', '/plus/repricing-rules', terms)
    if (created) route(`/desk/repricing/${created.data.id}`)
  }
  return (
    <>
      <Trail />
      <Heading>{t('newRule')}</Heading>
      <RuleForm submit={t('save')} busy={busy} error={error} onSubmit={(terms) => void create(terms)} />
    </>
  )
}

export function RulePage() {
  const id = Number(useRoute().params.id)
  const rules = useData('/plus/repricing-rules')
  const rule = rules.data?.find((one) => one.id === id)
  return (
    <>
      <Trail />
      <Await of={rules} title={t('ruleOf', { id: String(id) })}>
        {() =>
          rule ? (
            <Rule of={rule} onChanged={rules.reload} />
          ) : (
            <>
              <Heading>{t('ruleOf', { id: String(id) })}</Heading>
              <Empty>{t('ruleGone')}</Empty>
              <Runs id={id} />
            </>
          )
        }
      </Await>
    </>
  )
}

function Runs({ id, version }: { id: number; version?: number }) {
  return (
    <section>
      <h2>{t('runs')}</h2>
      <Jobs ruleId={id} {...(version !== undefined && { version })} />
    </section>
  )
}

function Rule({ of: rule, onChanged }: { of: RepricingRule; onChanged: () => void }) {
  const path = `/plus/repricing-rules/${rule.id}` as const
  const { busy, error, write, clear } = useWrite()
  const { route } = useLocation()
  const [editing, setEditing] = useState(false)
  const [simulation, setSimulation] = useState<RepricingSimulation | null>(null)
  const [version, ran] = useVersion()
  const save = async (terms: RuleTerms) => {
    if (!(await write('PATCH', path, terms))) return
    announce(t('ruleSaved'))
    setEditing(false)
    setSimulation(null)
    onChanged()
  }
  const simulate = async () => {
    const simulated = await write('POST', `${path}/simulate`, {})
    if (!simulated) return
    setSimulation(simulated.data)
    onChanged()
  }
  const enable = async (enabled: boolean) => {
    if (enabled && simulation && !(await confirmRisky(simulation, t('enableAnyway')))) return
    if (!(await write('PATCH', path, { enabled }))) return
    announce(t(enabled ? 'ruleEnabled' : 'ruleDisabled'))
    onChanged()
  }
  const run = async () => {
    // One day of the past is the least that a simulation covers.
    const preview = simulation ?? (await write('POST', `${path}/simulate`, { days: 1 }))?.data
    if (!preview || !(await confirmRisky(preview, t('runAnyway')))) return
    const done = await write('POST', `${path}/run`)
    if (!done) return
    announce(t('ruleRan', { count: done.data.changed }))
    setSimulation(null)
    ran()
    onChanged()
  }
  const remove = async () => {
    if (!(await confirm({ title: t('removeTitle', { name: rule.name }), text: t('ruleDeleteText'), action: t('delete') }))) return
    if (!(await write('DELETE', path))) return
    announce(t('deleted', { title: rule.name }))
    route('/desk/repricing')
  }
  const button = (text: string, onClick: () => void, className = '') => (
    <button type="button" class={className} disabled={busy} onClick={onClick}>
      {text}
    </button>
  )
  return (
    <>
      <div class="head">
        <Heading>{rule.name}</Heading>
        {mayWrite() && !editing && (
          <div class="actions">
            {button(t('simulate'), () => void simulate(), simulation || rule.enabled ? '' : 'main')}
            {rule.enabled && button(t('disable'), () => void enable(false))}
            {rule.simulated_at !== null && button(t('runNow'), () => void run())}
            {button(t('edit'), () => {
              clear()
              setEditing(true)
            })}
            {button(t('delete'), () => void remove(), 'danger')}
          </div>
        )}
      </div>
      {editing ? (
        <RuleForm
          rule={rule}
          submit={t('save')}
          busy={busy}
          error={error}
          onSubmit={(terms) => void save(terms)}
          onCancel={() => {
            clear()
            setEditing(false)
          }}
        />
      ) : (
        <>
          <Refusal error={error} />
          <RuleFacts of={rule} />
        </>
      )}
      {simulation && !editing && (
        <Simulated of={simulation}>{!rule.enabled && mayWrite() && button(t('enable'), () => void enable(true), 'main')}</Simulated>
      )}
      <Runs id={rule.id} version={version} />
    </>
  )
}

/** Asks about unusual prices that the rule would set now; true if there are none. */
async function confirmRisky({ listings }: RepricingSimulation, action: string): Promise<boolean> {
  const risky = listings.filter(({ warnings }) => warnings.length > 0)
  if (risky.length === 0) return true
  const prices = risky.map(({ listing_id: id, price, new_price: next, warnings }) => ({
    key: id,
    name: <ListingTitle id={id} />,
    old: price,
    price: next,
    warnings,
  }))
  return confirmPrices(prices, { title: t('riskyRuleTitle', { count: risky.length }), text: t('riskyRuleText'), action })
}

function RuleFacts({ of: rule }: { of: RepricingRule }) {
  return (
    <Facts
      brief
      rows={[
        [t('state'), <Status key="state" code={rule.enabled ? 'on' : 'off'} />],
        [t('target'), targetText(rule.target)],
        [t('scope'), scopeText(rule.scope)],
        [t('floor'), floorText(rule.floor)],
        [t('ceiling'), rule.ceiling === null ? null : lira(rule.ceiling)],
        [t('maxMove'), rule.max_move_percent === null ? null : `${count(rule.max_move_percent)} %`],
        [t('minComparables'), count(rule.min_comparables)],
        [t('simulatedAt'), rule.simulated_at ? moment(rule.simulated_at) : t('never')],
        [t('lastRun'), rule.last_run_at ? moment(rule.last_run_at) : t('never')],
      ]}
    />
  )
}

interface SimulatedProps {
  of: RepricingSimulation
  /** buttons for the next step */
  children: ComponentChildren
}

function Simulated({ of: { listings_total: total, changed, listings, days }, children }: SimulatedProps) {
  return (
    <section>
      <div class="head">
        <h2>{t('simulation')}</h2>
        <div class="actions">{children}</div>
      </div>
      <p role="status">{t('wouldChange', { changed, total })}</p>
      {listings.length > 0 && <Repriced of={listings} />}
      {days.length > 0 && <Past of={days} />}
    </section>
  )
}

/** Listings whose price would change come first. */
function Repriced({ of: listings }: { of: RepricedListing[] }) {
  const changes = (one: RepricedListing) => one.new_price !== one.price
  return (
    <RowPages
      caption={t('simulation')}
      rows={[...listings.filter(changes), ...listings.filter((one) => !changes(one))]}
      rowKey={({ listing_id: id }) => id}
      columns={[
        { head: t('listing'), cell: ({ listing_id: id }) => <ListingTitle id={id} /> },
        { head: t('price'), number: true, cell: ({ price }) => lira(price) },
        { head: t('newPrice'), number: true, cell: (row) => (changes(row) ? <ins>{lira(row.new_price)}</ins> : '–') },
        { head: t('payout'), number: true, cell: ({ payout }) => lira(payout) },
        { head: t('limit'), cell: ({ limit }) => (limit === null ? '–' : termText('limit', limit)) },
        {
          head: t('reason'),
          cell: ({ reason, warnings }) => (
            <>
              {refusalText(reason)} <PriceWarnings of={warnings} />
            </>
          ),
        },
      ]}
    />
  )
}

function Past({ of: days }: { of: RepricingSimulation['days'] }) {
  return (
    <details>
      <summary>{t('pastDays', { count: days.length })}</summary>
      <Table
        caption={t('pastDays', { count: days.length })}
        rows={days.toReversed()}
        rowKey={({ day }) => day}
        columns={[
          { head: t('day'), short: true, cell: ({ day }) => calendarDay(day) },
          { head: t('knownTargets'), number: true, cell: ({ known }) => count(known) },
          { head: t('raised'), number: true, cell: ({ raised }) => count(raised) },
          { head: t('lowered'), number: true, cell: ({ lowered }) => count(lowered) },
          { head: t('atFloor'), number: true, cell: ({ at_floor: at }) => count(at) },
          { head: t('averagePrice'), number: true, cell: ({ average_price: price }) => (price === null ? '–' : lira(price)) },
        ]}
      />
    </details>
  )
}
