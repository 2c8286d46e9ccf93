// The terms of a repricing rule as a form; its fields depend on the kinds of target and scope.
import { useState } from 'preact/hooks'
import type { ApiError } from '#ui/api.ts'
import { Field, Form, type Values } from '#ui/dialog.tsx'
import type { CreateRepricingRuleInput, RepricingRule } from '../../../client/src/api.ts'
import { sessions } from '../api.ts'
import { t, termText } from '../words.ts'

export type RuleTerms = CreateRepricingRuleInput
type Target = RuleTerms['target']
type Scope = RuleTerms['scope']

const TARGETS: Target['kind'][] = ['cheapest', 'market', 'median_sales']
const SCOPES: Scope['kind'][] = ['all', 'listings', 'skus', 'items']

/** The defaults of the service, for a form that sends all limits. */
const DEFAULT_MOVE_PERCENT = 20
const DEFAULT_COMPARABLES = 3

interface RuleFormProps {
  /** rule being edited */
  rule?: RepricingRule
  submit: string
  busy: boolean
  error: ApiError | null
  onSubmit: (terms: RuleTerms) => void
  onCancel?: () => void
}

export function RuleForm({ rule, onSubmit, ...form }: RuleFormProps) {
  const [target, setTarget] = useState<Target['kind']>(rule?.target.kind ?? 'cheapest')
  const [scope, setScope] = useState<Scope['kind']>(rule?.scope.kind ?? 'all')
  return (
    <section class="panel settings">
      <Form {...form} onSubmit={(values) => onSubmit(termsOf(values))}>
        <Field label={t('name')}>
          <input name="name" required maxLength={200} defaultValue={rule?.name} />
        </Field>
        <div class="pair">
          <Field label={t('target')}>
            <select name="target" value={target} onChange={({ currentTarget: { value } }) => setTarget(value as Target['kind'])}>
              {TARGETS.map((kind) => (
                <option key={kind} value={kind}>
                  {termText('target', kind)}
                </option>
              ))}
            </select>
          </Field>
          <TargetFields kind={target} {...(rule && { of: rule.target })} />
        </div>
        <div class="pair">
          <Field label={t('scope')} hint={t('scopeHint')}>
            <select name="scope" value={scope} onChange={({ currentTarget: { value } }) => setScope(value as Scope['kind'])}>
              {SCOPES.map((kind) => (
                <option key={kind} value={kind}>
                  {termText('scope', kind)}
                </option>
              ))}
            </select>
          </Field>
          <ScopeFields kind={scope} {...(rule && { of: rule.scope })} />
        </div>
        <div class="pair">
          <Amount name="floor_price" label={t('floorPrice')} hint={t('floorHint')} value={rule?.floor.price} />
          <Amount name="floor_payout" label={t('floorPayout')} value={rule?.floor.payout} />
        </div>
        <div class="pair">
          <Amount name="ceiling" label={t('ceiling')} hint={t('ceilingHint')} value={rule?.ceiling} />
          <Amount name="max_move_percent" label={t('maxMove')} hint={t('maxMoveHint')} value={rule ? rule.max_move_percent : DEFAULT_MOVE_PERCENT} />
        </div>
        {target !== 'market' && (
          <Field label={t('minComparables')} hint={t('minComparablesHint')}>
            <input
              name="min_comparables"
              type="number"
              min={1}
              step={1}
              defaultValue={rule && rule.target.kind !== 'market' ? rule.min_comparables : DEFAULT_COMPARABLES}
            />
          </Field>
        )}
      </Form>
    </section>
  )
}

/** The input has steps of 0.01; the service checks the allowed range. */
function Amount({ name, label, hint, value }: { name: string; label: string; hint?: string; value: number | null | undefined }) {
  return (
    <Field label={label} {...(hint !== undefined && { hint })}>
      <input name={name} type="number" step={0.01} defaultValue={value ?? ''} />
    </Field>
  )
}

function TargetFields({ kind, of }: { kind: Target['kind']; of?: Target }) {
  if (kind === 'cheapest') {
    return (
      <Field label={t('targetAmount')} hint={t('targetAmountHint')}>
        <input name="amount" type="number" step={0.01} required defaultValue={of?.kind === 'cheapest' ? of.amount : -1} />
      </Field>
    )
  }
  const markets = Object.keys(sessions.session.value?.currencies ?? {})
  const chosen = of?.kind === 'market' ? of.market : undefined
  return (
    <>
      {kind === 'market' && (
        <Field label={t('market')}>
          <select name="market">
            {markets.map((code) => (
              <option key={code} value={code} selected={code === chosen}>
                {termText('market', code)}
              </option>
            ))}
          </select>
        </Field>
      )}
      <Field label={t('factor')} hint={t('factorHint')}>
        <input name="factor" type="number" step={0.0001} required defaultValue={of && of.kind === kind && 'factor' in of ? of.factor : 1} />
      </Field>
    </>
  )
}

function ScopeFields({ kind, of }: { kind: Scope['kind']; of?: Scope }) {
  if (kind === 'all') return null
  if (kind === 'items') {
    const items = of?.kind === 'items' ? of : undefined
    return (
      <>
        <Field label={t('game')} hint={t('gameHint')}>
          <input name="game" defaultValue={items?.game} />
        </Field>
        <Field label={termText('field', 'category_id')}>
          <input name="category_id" type="number" min={1} step={1} defaultValue={items?.category_id ?? ''} />
        </Field>
      </>
    )
  }
  const chosen = of?.kind === 'listings' ? of.ids : of?.kind === 'skus' ? of.skus : []
  return (
    <Field label={t(kind === 'listings' ? 'listingIds' : 'skus')} hint={t('onePerLine')}>
      <textarea name="chosen" rows={4} required defaultValue={of?.kind === kind ? chosen.join('\n') : ''} />
    </Field>
  )
}

function termsOf(values: Values): RuleTerms {
  const numberOf = (name: string) => (values[name] ? Number(values[name]) : undefined)
  const [price, payout] = [numberOf('floor_price'), numberOf('floor_payout')]
  return {
    name: values.name!,
    target: targetOf(values),
    scope: scopeOf(values),
    floor: { ...(price !== undefined && { price }), ...(payout !== undefined && { payout }) },
    ceiling: numberOf('ceiling') ?? null,
    max_move_percent: numberOf('max_move_percent') ?? null,
    min_comparables: numberOf('min_comparables') ?? (values.target === 'market' ? 1 : DEFAULT_COMPARABLES),
  }
}

function targetOf({ target, market, factor, amount }: Values): Target {
  if (target === 'cheapest') return { kind: 'cheapest', amount: Number(amount) }
  if (target === 'median_sales') return { kind: 'median_sales', factor: Number(factor) }
  return { kind: 'market', market: market as Extract<Target, { kind: 'market' }>['market'], factor: Number(factor) }
}

function scopeOf({ scope, chosen = '', game, category_id: category }: Values): Scope {
  const lines = chosen
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  if (scope === 'listings') return { kind: 'listings', ids: lines.map(Number) }
  if (scope === 'skus') return { kind: 'skus', skus: lines }
  if (scope === 'items') return { kind: 'items', ...(game && { game }), ...(category && { category_id: Number(category) }) }
  return { kind: 'all' }
}
