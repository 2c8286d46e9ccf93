// Repricing rules, as under /plus/repricing-rules over REST.
import { OPERATION_PLAN } from '#core/plans.ts'
import { call } from '#core/verb.ts'
import { createRepricingRule, MAX_RULES } from '#market/repricing/create-repricing-rule.ts'
import { deleteRepricingRule } from '#market/repricing/delete-repricing-rule.ts'
import { listRepricingRules } from '#market/repricing/list-repricing-rules.ts'
import { runRepricingRule } from '#market/repricing/run-repricing-rule.ts'
import { simulateRepricingRule } from '#market/repricing/simulate-repricing-rule.ts'
import type { RepricedListing, RepricingRule, RepricingRun, SimulatedDay, Simulation } from '#market/repricing/types.ts'
import { updateRepricingRule } from '#market/repricing/update-repricing-rule.ts'
import { idOf, marketOf, withoutNulls } from '../building/arguments.ts'
import { type Builder, cost, fromDatabase, requiresPlan } from '../building/builder.ts'
import { callByFields } from './mutating.ts'

const pathOf = (args: { id: string | number }) => ({ id: ['id', idOf(args.id)] }) as const

export function implementRepricing(builder: Builder): void {
  const rule = addRuleType(builder)
  const { simulation, run } = addOutcomeTypes(builder)
  const input = addInput(builder)
  const deleted = builder.objectRef<{ message: string }>('RepricingRuleDeleted').implement({
    description: 'Result of a change to a repricing rule.',
    fields: (t) => ({
      success: t.boolean({ nullable: false, description: 'Always true: a failed mutation returns null and an error.', resolve: () => true }),
      message: t.exposeString('message', { nullable: false, description: 'Human-readable message.' }),
    }),
  })
  builder.queryField('repricingRules', (t) =>
    t.field({
      type: [rule],
      nullable: { list: false, items: false },
      description: 'Your repricing rules, in order of precedence. Plus and above.',
      extensions: { ...cost({ weight: 10, entries: MAX_RULES }), ...fromDatabase, ...requiresPlan(OPERATION_PLAN.listRepricingRules) },
      resolve: (_root, _args, ctx) => call(listRepricingRules, ctx, {}),
    }),
  )
  builder.mutationFields((t) => {
    const id = t.arg.id({ required: true, description: 'Id of one of your rules.' })
    return {
      createRepricingRule: t.field({
        type: rule,
        description: 'Creates a rule. It is off until you simulate and enable it. Requires name, target, scope and floor.',
        args: { input: t.arg({ type: input, required: true, description: 'The rule, without `enabled`.' }) },
        resolve: (_root, args, ctx, info) => callByFields(createRepricingRule, ctx, info, fieldsOf(args.input)),
      }),
      updateRepricingRule: t.field({
        type: rule,
        description: 'Changes the given fields. Changing the terms disables the rule until it is simulated again.',
        args: { id, input: t.arg({ type: input, required: true, description: 'Fields to change.' }) },
        resolve: (_root, args, ctx, info) => callByFields(updateRepricingRule, ctx, info, fieldsOf(args.input), pathOf(args)),
      }),
      deleteRepricingRule: t.field({
        type: deleted,
        description: 'Deletes a rule; prices stay unchanged.',
        args: { id },
        resolve: (_root, args, ctx, info) => callByFields(deleteRepricingRule, ctx, info, {}, pathOf(args)),
      }),
      simulateRepricingRule: t.field({
        type: simulation,
        description: 'Simulates what a rule would do now and would have done on previous days; changes no price.',
        args: { id, days: t.arg.int({ description: 'Number of days back, 1 to 90; default: 30.' }) },
        resolve: (_root, args, ctx, info) =>
          callByFields(simulateRepricingRule, ctx, info, args.days == null ? {} : { days: args.days }, pathOf(args)),
      }),
      runRepricingRule: t.field({
        type: run,
        description: 'Runs a rule now. Its current terms must have been simulated.',
        args: { id },
        resolve: (_root, args, ctx, info) => callByFields(runRepricingRule, ctx, info, {}, pathOf(args)),
      }),
    }
  })
}

function addRuleType(builder: Builder) {
  const target = builder.objectRef<RepricingRule['target']>('RepricingTarget').implement({
    description: 'Basis of the computed prices.',
    fields: (t) => ({
      kind: t.string({ nullable: false, description: '`market`, `cheapest` or `median_sales`.', resolve: (of) => of.kind }),
      market: t.string({ description: 'Code of the market.', resolve: (of) => (of.kind === 'market' ? of.market : null) }),
      factor: t.float({ description: 'Factor applied to the basis.', resolve: (of) => (of.kind === 'cheapest' ? null : of.factor) }),
      amount: t.float({ description: 'Amount added to the basis, in TL.', resolve: (of) => (of.kind === 'cheapest' ? of.amount : null) }),
    }),
  })
  const scope = builder.objectRef<RepricingRule['scope']>('RepricingScope').implement({
    description: 'Listings a rule applies to.',
    fields: (t) => ({
      kind: t.string({ nullable: false, description: '`all`, `listings`, `skus` or `items`.', resolve: (of) => of.kind }),
      ids: t.idList({ description: 'Ids of listings.', resolve: (of) => (of.kind === 'listings' ? of.ids : null) }),
      skus: t.stringList({ description: 'SKUs of listings.', resolve: (of) => (of.kind === 'skus' ? of.skus : null) }),
      game: t.string({ description: 'Game of the items.', resolve: (of) => (of.kind === 'items' ? of.game : null) }),
      categoryId: t.id({ description: 'Category of the items.', resolve: (of) => (of.kind === 'items' ? of.category_id : null) }),
    }),
  })
  const floor = builder.objectRef<RepricingRule['floor']>('RepricingFloor').implement({
    description: 'No price is set below it; if both are given, the higher one applies.',
    fields: (t) => ({
      price: t.exposeFloat('price', { nullable: true, description: 'Lowest price, in TL.' }),
      payout: t.exposeFloat('payout', { nullable: true, description: 'Lowest payout of one unit, in TL.' }),
    }),
  })
  return builder.objectRef<RepricingRule>('RepricingRule').implement({
    description: 'A rule that sets prices of your published listings. Times are local, with offset.',
    fields: (t) => ({
      id: t.id({ nullable: false, description: 'Unique id.', resolve: ({ id }) => id }),
      name: t.exposeString('name', { nullable: false, description: 'Human-readable message.' }),
      enabled: t.exposeBoolean('enabled', { nullable: false, description: 'Whether it runs every hour.' }),
      target: t.field({ type: target, nullable: false, description: 'Basis of the computed prices.', resolve: (of) => of.target }),
      scope: t.field({ type: scope, nullable: false, description: 'Listings it applies to.', resolve: (of) => of.scope }),
      floor: t.field({ type: floor, nullable: false, description: 'Lowest price it sets.', resolve: (of) => of.floor }),
      ceiling: t.exposeFloat('ceiling', {
        nullable: true,
        description: 'Highest price it sets, in TL; without one, the market price limits raises.',
      }),
      maxMovePercent: t.exposeFloat('max_move_percent', { nullable: true, description: 'Largest change per run, in percent.' }),
      minComparables: t.exposeInt('min_comparables', {
        nullable: false,
        description: 'Prices stay unchanged if fewer other sellers have a comparable listing, or if there are fewer sales; default: 3.',
      }),
      simulatedAt: t.exposeString('simulated_at', { nullable: true, description: 'When its current terms were last simulated.' }),
      lastRunAt: t.exposeString('last_run_at', { nullable: true, description: 'When it last ran.' }),
    }),
  })
}

function addOutcomeTypes(builder: Builder) {
  const reason = builder.objectRef<RepricedListing['reason']>('RepricingReason').implement({
    description: 'Why a rule sets or keeps a price.',
    fields: (t) => ({
      message: t.exposeString('message', { nullable: false, description: 'Human-readable message.' }),
      rule: t.exposeString('rule', { nullable: true, description: 'Machine-readable name of the reason.' }),
    }),
  })
  const follows = builder.objectRef<NonNullable<RepricedListing['follows']>>('FollowedPrice').implement({
    description: 'The competing listing that a price follows.',
    fields: (t) => ({
      listingId: t.id({ nullable: false, description: 'Id of the listing.', resolve: (of) => of.listing_id }),
      price: t.exposeFloat('price', { nullable: false, description: 'Its price, in TL.' }),
    }),
  })
  const listing = builder.objectRef<RepricedListing>('RepricedListing').implement({
    description: 'Effect of a rule on one listing.',
    fields: (t) => ({
      listingId: t.id({ nullable: false, description: 'Id of the listing.', resolve: (of) => of.listing_id }),
      price: t.exposeFloat('price', { nullable: false, description: 'Current price, in TL.' }),
      newPrice: t.exposeFloat('new_price', { nullable: false, description: 'Price the rule would set, in TL.' }),
      payout: t.exposeFloat('payout', { nullable: false, description: 'Your payout for one unit at that price, in TL.' }),
      limit: t.exposeString('limit', { nullable: true, description: '`floor`, `ceiling` or `max_move` if it kept the price from its target.' }),
      follows: t.field({
        type: follows,
        nullable: true,
        description: 'The cheapest comparable listing, if the target is computed from it.',
        resolve: (of) => of.follows,
      }),
      reason: t.field({ type: reason, nullable: false, description: 'Why.', resolve: (of) => of.reason }),
    }),
  })
  const day = builder.objectRef<SimulatedDay>('SimulatedDay').implement({
    description: 'What a rule would have done on one day.',
    fields: (t) => ({
      day: t.exposeString('day', { nullable: false, description: 'UTC.' }),
      known: t.exposeInt('known', { nullable: false, description: 'Listings with a known target on that day.' }),
      raised: t.exposeInt('raised', { nullable: false, description: 'Listings with a price increase.' }),
      lowered: t.exposeInt('lowered', { nullable: false, description: 'Listings with a price decrease.' }),
      atFloor: t.exposeInt('at_floor', { nullable: false, description: 'Listings kept from their target by the floor.' }),
      averagePrice: t.exposeFloat('average_price', { nullable: true, description: 'Average price of the listings at the end of the day, in TL.' }),
    }),
  })
  const simulation = builder.objectRef<Simulation>('RepricingSimulation').implement({
    description: 'What a rule would do now and would have done on previous days.',
    fields: (t) => ({
      listingsTotal: t.exposeInt('listings_total', { nullable: false, description: 'Listings the rule currently applies to.' }),
      changed: t.exposeInt('changed', { nullable: false, description: 'Listings whose price would change now.' }),
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
    description: 'Result of a run of a rule.',
    fields: (t) => ({
      listingsTotal: t.exposeInt('listings_total', { nullable: false, description: 'Listings the rule currently applies to.' }),
      changed: t.exposeInt('changed', { nullable: false, description: 'Listings whose price changed.' }),
      failed: t.exposeInt('failed', { nullable: false, description: 'Listings that changed in the meantime or cannot be changed.' }),
      jobId: t.id({ description: 'Price job with a row for each change; null if nothing changed.', resolve: (of) => of.job_id }),
    }),
  })
  return { simulation, run }
}

function addInput(builder: Builder) {
  const target = builder.inputType('RepricingTargetInput', {
    description: 'Basis of the computed prices.',
    fields: (t) => ({
      kind: t.string({
        required: true,
        description: '`market` (with `market` and `factor`), `cheapest` (with `amount`) or `median_sales` (with `factor`).',
      }),
      market: t.string({ description: 'Code of a market (`source_a`) or its name in `Market` (`SOURCE_A`).' }),
      factor: t.float({ description: 'Factor applied to the basis, 0.01 to 100.' }),
      amount: t.float({ description: 'Amount added to the basis, in TL; negative to undercut.' }),
    }),
  })
  const scope = builder.inputType('RepricingScopeInput', {
    description: 'Listings a rule applies to.',
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
    description: 'Lower limit of a rule: a price, a payout or both.',
    fields: (t) => ({
      price: t.float({ description: 'Lowest price, in TL.' }),
      payout: t.float({ description: 'Lowest payout of one unit, in TL.' }),
    }),
  })
  return builder.inputType('RepricingRuleInput', {
    description: 'A repricing rule. Omitted fields stay unchanged; null clears `ceiling` and `maxMovePercent`.',
    fields: (t) => ({
      name: t.string({ description: 'Human-readable message.' }),
      enabled: t.boolean({ description: 'Whether it runs every hour; requires a simulation first.' }),
      target: t.field({ type: target, description: 'Basis of the computed prices.' }),
      scope: t.field({ type: scope, description: 'Listings it applies to.' }),
      floor: t.field({ type: floor, description: 'Lowest price it sets.' }),
      ceiling: t.float({ description: 'Highest price it sets, in TL; without one, the market price limits raises.' }),
      maxMovePercent: t.float({ description: 'Largest change per run in percent, 1 to 100; default: 20.' }),
      minComparables: t.int({
        description:
          'Prices stay unchanged if fewer other sellers have a comparable listing, or if there are fewer sales; default: 3, for a market 1.',
      }),
    }),
  })
}

interface RuleInput {
  target?: { market?: string | null } | null
  scope?: { ids?: readonly (string | number)[] | null; categoryId?: string | number | null } | null
  floor?: object | null
}

/** The input with the verbs' names, including nested fields. */
function fieldsOf({ target, scope, floor, ...others }: RuleInput): object {
  return {
    ...others,
    ...(target && { target: { ...withoutNulls(target), ...(target.market != null && { market: marketOf(target.market) }) } }),
    ...(scope && { scope: scopeOf(scope) }),
    ...(floor && { floor: withoutNulls(floor) }),
  }
}

function scopeOf({ ids, categoryId, ...others }: NonNullable<RuleInput['scope']>): object {
  return { ...withoutNulls(others), ...(ids != null && { ids: ids.map(idOf) }), ...(categoryId != null && { category_id: idOf(categoryId) }) }
}
