// Approval rules: their conditions, mode, backtest and results.
import { useState } from 'preact/hooks'
import { useLocation, useRoute } from 'preact-iso'
import type { ApprovalBacktest, ApprovalConditions, ApprovalRule } from '../api-types.ts'
import { approvalRuleModeValues as MODES } from '../api-values.ts'
import { useVersion } from '#ui/data.ts'
import { List, isAllowed, useData, useWrite, writeNow } from '../api.ts'
import { confirm, Dialog, Field, Form, type Values } from '#ui/dialog.tsx'
import { Tabs } from '#ui/frame.tsx'
import { Heading } from '#ui/heading.tsx'
import { Await, Empty, Facts, Refusal, Status } from '#ui/states.tsx'
import { Table } from '#ui/table.tsx'
import { announce } from '#ui/toasts.tsx'
import { PermittedButton } from '../ui/permitted-button.tsx'
import { ago, count, date, moment, t, termText } from '../words.ts'

const MEASURED = ['price_ratio', 'seller_sales', 'seller_approved', 'seller_rejected', 'seller_age_days'] as const
/** Fields of a listing, besides price and stock, that an approval covers. */
const CONTENT = [
  'title',
  'description',
  'images',
  'language',
  'grade_id',
  'item_id',
  'shipping_payer',
  'offers_enabled',
  'min_offer_price',
] as const satisfies NonNullable<ApprovalConditions['changed_fields']>
const DAYS = 90

export function ApprovalTabs({ current }: { current: 'queue' | 'rules' | 'notices' }) {
  return (
    <Tabs
      tabs={[
        { href: '/console/approvals', text: t('approvalQueue'), current: current === 'queue' },
        { href: '/console/approval-rules', text: t('approvalRules'), current: current === 'rules' },
        { href: '/console/notices', text: t('notices'), current: current === 'notices' },
      ]}
    />
  )
}

export function ApprovalRulesPage() {
  const rules = useData('/approval-rules')
  const [adding, setAdding] = useState(false)
  const { route } = useLocation()
  const { busy, error, write, clear } = useWrite()
  const add = async (values: Values) => {
    const added = await write('POST', '/approval-rules', bodyOf(values))
    if (added) route(`/console/approval-rules/${added.data.id}`)
  }
  return (
    <>
      <div class="head">
        <Heading>{t('approvalRules')}</Heading>
        <div class="actions">
          <PermittedButton
            need="market"
            class="main"
            onClick={() => {
              clear()
              setAdding(true)
            }}
          >
            {t('newRule')}
          </PermittedButton>
        </div>
      </div>
      <ApprovalTabs current="rules" />
      <p class="quiet">{t('approvalRulesText')}</p>
      <Await of={rules}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty>{t('noRules')}</Empty>
          ) : (
            <Table
              caption={t('approvalRules')}
              rows={rows}
              rowKey={(rule) => rule.id}
              columns={[
                { head: t('name'), cell: (rule) => <a href={`/console/approval-rules/${rule.id}`}>{rule.name}</a> },
                { head: t('ruleMode'), short: true, cell: (rule) => <Mode of={rule} /> },
                { head: t('ruleConditions'), cell: (rule) => sentencesOf(rule.conditions).join('; ') },
                { head: t('ruleJudged'), number: true, wide: true, cell: (rule) => count(rule.judged) },
                { head: t('ruleApproves'), number: true, wide: true, cell: (rule) => count(rule.approves) },
                { head: t('ruleApproved'), number: true, cell: (rule) => count(rule.approved) },
              ]}
            />
          )
        }
      </Await>
      {adding && (
        <RuleDialog
          title={t('newRule')}
          rule={null}
          busy={busy}
          error={error}
          onSave={(values) => void add(values)}
          onClose={() => setAdding(false)}
        />
      )}
    </>
  )
}

export function ApprovalRulePage() {
  const id = Number(useRoute().params.id)
  const [version, changed] = useVersion()
  const loaded = useData('/approval-rules', { version })
  const rule = loaded.data?.find((one) => one.id === id)
  const [editing, setEditing] = useState(false)
  const { busy, error, write, clear } = useWrite()
  const save = async (body: Parameters<typeof write<'PATCH', `/approval-rules/${number}`>>[2]) => {
    if (!(await write('PATCH', `/approval-rules/${id}`, body))) return
    setEditing(false)
    announce(t('saved'))
    changed()
  }
  const reopen = async ({ name, approved }: ApprovalRule) => {
    const question = { title: t('reopenTitle', { name }), text: t('reopenText'), action: t('reopenCount', { count: approved }) }
    if (!(await confirm(question))) return
    const done = await writeNow('POST', `/approval-rules/${id}/reopen`, {})
    if (!done) return
    const unchanged = Object.values(done.data.kept).reduce((sum, number) => sum + number, 0)
    announce(t('reopened', { count: done.data.reopened, kept: unchanged }))
    changed()
  }
  return (
    <>
      <p class="trail">
        <a href="/console/approval-rules">{t('approvalRules')}</a>
      </p>
      <Await of={loaded} title={t('approvalRule')}>
        {() =>
          !rule ? (
            <>
              <Heading>{t('approvalRule')}</Heading>
              <Empty>{t('notThere')}</Empty>
            </>
          ) : (
            <>
              <div class="head">
                <Heading>{rule.name}</Heading>
                <div class="actions">
                  {MODES.filter((mode) => mode !== rule.mode).map((mode) => (
                    <PermittedButton
                      need="market"
                      key={mode}
                      class={mode === 'on' ? 'main' : undefined}
                      disabled={busy}
                      onClick={() => void save({ mode })}
                    >
                      {t(`switchTo.${mode}`)}
                    </PermittedButton>
                  ))}
                  <PermittedButton
                    need="market"
                    onClick={() => {
                      clear()
                      setEditing(true)
                    }}
                  >
                    {t('edit')}
                  </PermittedButton>
                  {rule.approved > 0 && (
                    <PermittedButton need="market" class="danger" disabled={busy} onClick={() => void reopen(rule)}>
                      {t('reopen')}
                    </PermittedButton>
                  )}
                </div>
              </div>
              {!editing && <Refusal error={error} />}
              <Facts
                rows={[
                  [t('ruleMode'), <Mode key="mode" of={rule} />],
                  [t('ruleVersion'), String(rule.version)],
                  [t('ruleLimit'), t('ruleLimitOf', { percent: rule.max_rejected_percent, count: rule.min_decisions })],
                  [t('ruleJudged'), count(rule.judged)],
                  [t('ruleApproves'), count(rule.approves)],
                  [t('ruleApproved'), count(rule.approved)],
                ]}
              />
              <section>
                <h2>{t('ruleConditions')}</h2>
                <ul class="reasons">
                  {sentencesOf(rule.conditions).map((sentence) => (
                    <li key={sentence}>{sentence}</li>
                  ))}
                </ul>
              </section>
              <BacktestForm key={rule.version} rule={rule} />
              <section>
                <h2>{t('ruleLog')}</h2>
                <List
                  path={`/approval-rules/${id}/log`}
                  caption={t('ruleLog')}
                  empty={t('noRuleLog')}
                  version={version}
                  filters={[
                    {
                      name: 'approves',
                      label: t('ruleSays'),
                      options: ['1', '0'].map((code) => ({ value: code, text: t(code === '1' ? 'ruleWouldApprove' : 'ruleWouldLeave') })),
                    },
                  ]}
                  rowKey={(row) => `${row.listing_id} ${row.at}`}
                  columns={[
                    { head: t('listing'), cell: (row) => <a href={`/console/listings/${row.listing_id}`}>{row.title ?? `#${row.listing_id}`}</a> },
                    { head: t('when'), short: true, cell: (row) => <span title={moment(row.at)}>{ago(row.at)}</span> },
                    { head: t('ruleVersion'), number: true, wide: true, cell: (row) => row.rule_version },
                    { head: t('ruleMode'), wide: true, cell: (row) => termText('ruleMode', row.mode) },
                    { head: t('ruleSays'), cell: (row) => t(row.approves ? 'ruleWouldApprove' : 'ruleWouldLeave') },
                    { head: t('decision'), cell: (row) => row.decision && termText('listingDecision', row.decision) },
                    { head: t('actor'), wide: true, cell: (row) => row.decided_by },
                  ]}
                />
              </section>
              {editing && (
                <RuleDialog
                  title={rule.name}
                  rule={rule}
                  busy={busy}
                  error={error}
                  onSave={(values) => void save(bodyOf(values))}
                  onClose={() => setEditing(false)}
                />
              )}
            </>
          )
        }
      </Await>
    </>
  )
}

function Mode({ of: { mode } }: { of: ApprovalRule }) {
  return <span class={`status ${mode === 'on' ? 'good' : mode === 'shadow' ? 'wait' : ''}`}>{termText('ruleMode', mode)}</span>
}

/** What a rule would have done, compared to manual decisions. */
function BacktestForm({ rule }: { rule: ApprovalRule }) {
  const [result, setResult] = useState<ApprovalBacktest | null>(null)
  const { busy, error, write } = useWrite()
  const run = async ({ days }: Values) =>
    setResult((await write('POST', `/approval-rules/${rule.id}/backtest`, { days: Number(days) }))?.data ?? null)
  return (
    <section aria-labelledby="backtest">
      <h2 id="backtest">{t('backtest')}</h2>
      <p class="quiet">{t('backtestText')}</p>
      {isAllowed('market') && (
        <div class="narrow">
          <Form submit={t('runBacktest')} busy={busy} error={error} onSubmit={(values) => void run(values)}>
            <Field label={t('backtestDays')}>
              <input name="days" type="number" min={1} max={365} required defaultValue={DAYS} />
            </Field>
          </Form>
        </div>
      )}
      {result && (
        <div role="status">
          <Facts
            rows={[
              [t('backtestResult'), <Status key="passed" code={result.passed ? 'passed' : 'not_passed'} tone={result.passed ? 'good' : 'bad'} />],
              [t('backtestDecisions'), count(result.decisions)],
              [t('ruleApproves'), count(result.would_approve)],
              [t('peopleRejected'), count(result.people_rejected)],
              [t('backtestSince'), result.since && date(result.since)],
            ]}
          />
          {result.listings.length > 0 && (
            <p>
              {t('peopleRejectedThese')}{' '}
              {result.listings.map((id) => (
                <>
                  <a key={id} href={`/console/listings/${id}`}>
                    #{id}
                  </a>{' '}
                </>
              ))}
            </p>
          )}
        </div>
      )}
    </section>
  )
}

interface RuleDialogProps {
  title: string
  /** null for a new rule */
  rule: ApprovalRule | null
  busy: boolean
  error: Parameters<typeof Form>[0]['error']
  onSave: (values: Values) => void
  onClose: () => void
}

function RuleDialog({ title, rule, busy, error, onSave, onClose }: RuleDialogProps) {
  const { changed_fields: fields, ...ranges } = rule?.conditions ?? {}
  const [byChange, setByChange] = useState(fields !== undefined)
  return (
    <Dialog title={title} onClose={onClose}>
      <Form submit={t('save')} busy={busy} error={error} onSubmit={onSave} onCancel={onClose}>
        <Field label={t('name')}>
          <input name="name" maxLength={200} required autocomplete="off" defaultValue={rule?.name} />
        </Field>
        {MEASURED.map((name) => (
          <fieldset key={name} class="range">
            <legend>{termText('condition', name)}</legend>
            {(['min', 'max'] as const).map((end) => (
              <Field key={end} label={t(end === 'min' ? 'atLeast' : 'atMost')}>
                <input name={`${name}.${end}`} type="number" min={0} step={name === 'price_ratio' ? 0.01 : 1} defaultValue={ranges[name]?.[end]} />
              </Field>
            ))}
          </fieldset>
        ))}
        <fieldset>
          <legend>{t('ruleChanges')}</legend>
          <label class="check">
            <input name="changed_fields" type="checkbox" checked={byChange} onChange={() => setByChange(!byChange)} /> {t('onlyTheseChanged')}
          </label>
          {byChange &&
            CONTENT.map((field) => (
              <label key={field} class="check">
                <input name={`changed.${field}`} type="checkbox" defaultChecked={fields?.includes(field)} /> {termText('field', field)}
              </label>
            ))}
        </fieldset>
        <Field label={t('maxRejectedPercent')} hint={t('maxRejectedPercentHint')}>
          <input name="max_rejected_percent" type="number" min={0} max={100} step="any" required defaultValue={rule?.max_rejected_percent ?? 1} />
        </Field>
        <Field label={t('minDecisions')} hint={t('minDecisionsHint')}>
          <input name="min_decisions" type="number" min={1} required defaultValue={rule?.min_decisions ?? 20} />
        </Field>
      </Form>
    </Dialog>
  )
}

function bodyOf(values: Values) {
  const conditions: ApprovalConditions = {}
  for (const name of MEASURED) {
    const { [`${name}.min`]: min = '', [`${name}.max`]: max = '' } = values
    if (min !== '' || max !== '') conditions[name] = { ...(min !== '' && { min: Number(min) }), ...(max !== '' && { max: Number(max) }) }
  }
  if (values.changed_fields) conditions.changed_fields = CONTENT.filter((field) => values[`changed.${field}`])
  return {
    name: values.name!,
    conditions,
    max_rejected_percent: Number(values.max_rejected_percent),
    min_decisions: Number(values.min_decisions),
  }
}

/** Conditions as readable sentences. */
function sentencesOf({ changed_fields: fields, ...ranges }: ApprovalConditions): string[] {
  const measured = MEASURED.flatMap((name) => {
    const { min, max } = ranges[name] ?? {}
    if (min === undefined && max === undefined) return []
    const bounds = [...(min === undefined ? [] : [t('atLeastOf', { value: min })]), ...(max === undefined ? [] : [t('atMostOf', { value: max })])]
    return [`${termText('condition', name)}: ${bounds.join(', ')}`]
  })
  if (!fields) return measured
  const names = fields.map((field) => termText('field', field)).join(', ')
  return [...measured, `${t('onlyTheseChanged')}: ${names || t('nothingChanged')}`]
}
