// Repricing rules: what REST answers under /plus/repricing-rules.
import { OPERATION_PLAN } from '#core/plans.ts'
import { call } from '#core/verb.ts'
import { createRepricingRule, MOST_RULES } from '#market/repricing/create-repricing-rule.ts'
import { deleteRepricingRule } from '#market/repricing/delete-repricing-rule.ts'
import { listRepricingRules } from '#market/repricing/list-repricing-rules.ts'
import { runRepricingRule } from '#market/repricing/run-repricing-rule.ts'
import { simulateRepricingRule } from '#market/repricing/simulate-repricing-rule.ts'
import type { RepricedListing, RepricingRule, RepricingRun, SimulatedDay, Simulation } from '#market/repricing/types.ts'
import { updateRepricingRule } from '#market/repricing/update-repricing-rule.ts'
import { idOf, marketOf, sent } from './arguments.ts'
import { type Builder, cost, fromDatabase, needing } from './builder.ts'
import { callByFields } from './mutating.ts'

const pathOf = (args: { id: string | number }) => ({ id: ['id', idOf(args.id)] }) as const

export function implementRepricing(builder: Builder): void {
  const rule = addRuleType(builder)
  const { simulation, run } = addOutcomeTypes(builder)
  const input = addInput(builder)
  const deleted = builder.objectRef<{ message: string }>('RepricingRuleDeleted').implement({
    description: 'What became of a repricing rule.',
    fields: (t) => ({
      success: t.boolean({ nullable: false, description: 'Always true: a failing mutation gives null and an error.', resolve: () => true }),
      message: t.exposeString('message', { nullable: false, description: 'What was done, for people.' }),
    }),
  })
  builder.queryField('repricingRules', (t) =>
    t.field({
      type: [rule],
      nullable: { list: false, items: false },
      description: 'Your repricing rules in the order in which they take their listings. Plus and above.',
      extensions: { ...cost({ weight: 10, entries: MOST_RULES }), ...fromDatabase, ...needing(OPERATION_PLAN.listRepricingRules) },
      resolve: (_root, _args, ctx) => call(listRepricingRules, ctx, {}),
    }),
  )
  builder.mutationFields((t) => {
    const id = t.arg.id({ required: true, description: 'Id of one of your rules.' })
    return {
      createRepricingRule: t.field({
        type: rule,
        description: 'Creates a rule, which is off until it was simulated and enabled. Needs name, target, scope and floor.',
        args: { input: t.arg({ type: input, required: true, description: 'The rule; `enabled` is not allowed.' }) },
        resolve: (_root, args, ctx, info) => callByFields(createRepricingRule, ctx, info, fieldsOf(args.input)),
      }),
      updateRepricingRule: t.field({
        type: rule,
        description: 'Changes the fields sent; with other terms the rule is off until it is simulated again.',
        args: { id, input: t.arg({ type: input, required: true, description: 'What changes.' }) },
        resolve: (_root, args, ctx, info) => callByFields(updateRepricingRule, ctx, info, fieldsOf(args.input), pathOf(args)),
      }),
      deleteRepricingRule: t.field({
        type: deleted,
        description: 'Deletes a rule; prices stay as it left them.',
        args: { id },
        resolve: (_root, args, ctx, info) => callByFields(deleteRepricingRule, ctx, info, {}, pathOf(args)),
      }),
      simulateRepricingRule: t.field({
        type: simulation,
        description: 'Says what a rule would do now and would have done on the days before; no price changes.',
        args: { id, days: t.arg.int({ description: 'Days before now, 1 to 90; 30 when not sent.' }) },
        resolve: (_root, args, ctx, info) =>
          callByFields(simulateRepricingRule, ctx, info, args.days == null ? {} : { days: args.days }, pathOf(args)),
      }),
      runRepricingRule: t.field({
        type: run,
        description: 'Runs a rule now, if it was simulated as it is.',
        args: { id },
        resolve: (_root, args, ctx, info) => callByFields(runRepricingRule, ctx, info, {}, pathOf(args)),
      }),
    }
  })
}

function addRuleType(builder: Builder) {
  const target = builder.objectRef<RepricingRule['target']>('RepricingTarget').implement({
    description: 'What prices are computed from.',
    fields: (t) => ({
      kind: t.string({ nullable: false, description: '`market`, `cheapest` or `median_sales`.', resolve: (of) => of.kind }),
      market: t.string({ description: 'Code of the market.', resolve: (of) => (of.kind === 'market' ? of.market : null) }),
      factor: t.float({ description: 'Times this.', resolve: (of) => (of.kind === 'cheapest' ? null : of.factor) }),
      amount: t.float({ description: 'Plus this, in TL.', resolve: (of) => (of.kind === 'cheapest' ? of.amount : null) }),
    }),
  })
  const scope = builder.objectRef<RepricingRule['scope']>('RepricingScope').implement({
    description: 'Which listings a rule is for.',
    fields: (t) => ({
      kind: t.string({ nullable: false, description: '`all`, `listings`, `skus` or `items`.', resolve: (of) => of.kind }),
      ids: t.idList({ description: 'Ids of listings.', resolve: (of) => (of.kind === 'listings' ? of.ids : null) }),
      skus: t.stringList({ description: 'SKUs of listings.', resolve: (of) => (of.kind === 'skus' ? of.skus : null) }),
      game: t.string({ description: 'Game of the items.', resolve: (of) => (of.kind === 'items' ? of.game : null) }),
      categoryId: t.id({ description: 'Category of the items.', resolve: (of) => (of.kind === 'items' ? of.category_id : null) }),
    }),
  })
  const floor = builder.objectRef<RepricingRule['floor']>('RepricingFloor').implement({
    description: 'No price is ever set below it; of both the higher holds.',
    fields: (t) => ({
      price: t.exposeFloat('price', { nullable: true, description: 'Lowest price, in TL.' }),
      payout: t.exposeFloat('payout', { nullable: true, description: 'Lowest payout of one unit, in TL.' }),
    }),
  })
  return builder.objectRef<RepricingRule>('RepricingRule').implement({
    description: 'A rule that sets prices of your published listings. Times are local, with their offset.',
    fields: (t) => ({
      id: t.id({ nullable: false, description: 'Unique id.', resolve: ({ id }) => id }),
      name: t.exposeString('name', { nullable: false, description: 'For people.' }),
      enabled: t.exposeBoolean('enabled', { nullable: false, description: 'Whether it runs every hour.' }),
      target: t.field({ type: target, nullable: false, description: 'What prices are computed from.', resolve: (of) => of.target }),
      scope: t.field({ type: scope, nullable: false, description: 'Which listings it is for.', resolve: (of) => of.scope }),
      floor: t.field({ type: floor, nullable: false, description: 'The lowest that it sets.', resolve: (of) => of.floor }),
      ceiling: t.exposeFloat('ceiling', { nullable: true, description: 'The highest that it sets, in TL.' }),
      maxMovePercent: t.exposeFloat('max_move_percent', { nullable: true, description: 'Largest change by one run.' }),
      minComparables: t.exposeInt('min_comparables', { nullable: false, description: 'With fewer comparable listings or sales a price stays.' }),
      simulatedAt: t.exposeString('simulated_at', { nullable: true, description: 'When it was last simulated as it is now.' }),
      lastRunAt: t.exposeString('last_run_at', { nullable: true, description: 'When it last ran.' }),
    }),
  })
}

function addOutcomeTypes(builder: Builder) {
  const reason = builder.objectRef<RepricedListing['reason']>('RepricingReason').implement({
    description: 'Why a rule sets a price, or leaves it.',
    fields: (t) => ({
      message: t.exposeString('message', { nullable: false, description: 'For people.' }),
      rule: t.exposeString('rule', { nullable: true, description: 'Name of the reason; for programs.' }),
    }),
  })
  const listing = builder.objectRef<RepricedListing>('RepricedListing').implement({
    description: 'What a rule would do with a listing.',
    fields: (t) => ({
      listingId: t.id({ nullable: false, description: 'Id of the listing.', resolve: (of) => of.listing_id }),
      price: t.exposeFloat('price', { nullable: false, description: 'Now, in TL.' }),
      newPrice: t.exposeFloat('new_price', { nullable: false, description: 'What the rule would set, in TL.' }),
      payout: t.exposeFloat('payout', { nullable: false, description: 'What a sale of one unit would then pay you, in TL.' }),
      limit: t.exposeString('limit', { nullable: true, description: '`floor`, `ceiling` or `max_move`, where it kept the price from its target.' }),
      reason: t.field({ type: reason, nullable: false, description: 'Why.', resolve: (of) => of.reason }),
    }),
  })
  const day = builder.objectRef<SimulatedDay>('SimulatedDay').implement({
    description: 'What a rule would have done on a day.',
    fields: (t) => ({
      day: t.exposeString('day', { nullable: false, description: 'UTC.' }),
      known: t.exposeInt('known', { nullable: false, description: 'Listings whose target was known on that day.' }),
      raised: t.exposeInt('raised', { nullable: false, description: 'Listings made more expensive.' }),
      lowered: t.exposeInt('lowered', { nullable: false, description: 'Listings made cheaper.' }),
      atFloor: t.exposeInt('at_floor', { nullable: false, description: 'Listings that the floor kept from their target.' }),
      averagePrice: t.exposeFloat('average_price', { nullable: true, description: 'Of the listings at the end of the day, in TL.' }),
    }),
  })
  const simulation = builder.objectRef<Simulation>('RepricingSimulation').implement({
    description: 'What a rule would do now and would have done on the days before.',
    fields: (t) => ({
      listingsTotal: t.exposeInt('listings_total', { nullable: false, description: 'Listings that the rule has now.' }),
      changed: t.exposeInt('changed', { nullable: false, description: 'Those whose price it would change now.' }),
      listings: t.field({
        type: [listing],
        nullable: { list: false, items: false },
        description: 'The first 1,000 by id.',
        resolve: (of) => of.listings,
      }),
      days: t.field({ type: [day], nullable: { list: false, items: false }, description: 'Oldest first.', resolve: (of) => of.days }),
    }),
  })
  const run = builder.objectRef<RepricingRun>('RepricingRun').implement({
    description: 'What a run of a rule has changed.',
    fields: (t) => ({
      listingsTotal: t.exposeInt('listings_total', { nullable: false, description: 'Listings that the rule has now.' }),
      changed: t.exposeInt('changed', { nullable: false, description: 'Those whose price it has changed.' }),
      failed: t.exposeInt('failed', { nullable: false, description: 'Those that changed meanwhile, or may not be changed.' }),
      jobId: t.id({ description: 'The price job with a row for each change; null without one.', resolve: (of) => of.job_id }),
    }),
  })
  return { simulation, run }
}

function addInput(builder: Builder) {
  const target = builder.inputType('RepricingTargetInput', {
    description: 'What prices are computed from.',
    fields: (t) => ({
      kind: t.string({
        required: true,
        description: '`market` (with `market` and `factor`), `cheapest` (with `amount`) or `median_sales` (with `factor`).',
      }),
      market: t.string({ description: 'Code of a market (`source_a`) or its name in `Market` (`SOURCE_A`).' }),
      factor: t.float({ description: 'Times this, 0.01 to 100.' }),
      amount: t.float({ description: 'Plus this, in TL; negative to undercut.' }),
    }),
  })
  const scope = builder.inputType('RepricingScopeInput', {
    description: 'Which listings a rule is for.',
    fields: (t) => ({
      kind: t.string({
        required: true,
        description: '`all`, `listings` (with `ids`), `skus` (with `skus`) or `items` (with `game` or `categoryId`).',
      }),
      ids: t.idList({ description: 'Ids of listings, at most 1,000.' }),
      skus: t.stringList({ description: 'SKUs of listings, at most 1,000.' }),
      game: t.string({ description: 'Game of the items.' }),
      categoryId: t.id({ description: 'Category of the items; everything below it is included.' }),
    }),
  })
  const floor = builder.inputType('RepricingFloorInput', {
    description: 'The lowest that a rule sets: a price, a payout or both.',
    fields: (t) => ({
      price: t.float({ description: 'Lowest price, in TL.' }),
      payout: t.float({ description: 'Lowest payout of one unit, in TL.' }),
    }),
  })
  return builder.inputType('RepricingRuleInput', {
    description: 'A repricing rule. What is not sent stays as it is; null clears `ceiling` and `maxMovePercent`.',
    fields: (t) => ({
      name: t.string({ description: 'For people.' }),
      enabled: t.boolean({ description: 'Whether it runs every hour; only after it was simulated.' }),
      target: t.field({ type: target, description: 'What prices are computed from.' }),
      scope: t.field({ type: scope, description: 'Which listings it is for.' }),
      floor: t.field({ type: floor, description: 'The lowest that it sets.' }),
      ceiling: t.float({ description: 'The highest that it sets, in TL.' }),
      maxMovePercent: t.float({ description: 'Largest change by one run, 1 to 100.' }),
      minComparables: t.int({ description: 'With fewer comparable listings or sales a price stays.' }),
    }),
  })
}

interface RuleInput {
  target?: { market?: string | null } | null
  scope?: { ids?: readonly (string | number)[] | null; categoryId?: string | number | null } | null
  floor?: object | null
}

/** The input as the verbs name it, below the first level, too. */
function fieldsOf({ target, scope, floor, ...others }: RuleInput): object {
  return {
    ...others,
    ...(target && { target: { ...sent(target), ...(target.market != null && { market: marketOf(target.market) }) } }),
    ...(scope && { scope: scopeOf(scope) }),
    ...(floor && { floor: sent(floor) }),
  }
}

function scopeOf({ ids, categoryId, ...others }: NonNullable<RuleInput['scope']>): object {
  return { ...sent(others), ...(ids != null && { ids: ids.map(idOf) }), ...(categoryId != null && { category_id: idOf(categoryId) }) }
}
