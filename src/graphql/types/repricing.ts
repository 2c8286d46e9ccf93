// Repricing rules, as under /plus/repricing-rules over REST.
import { OPERATION_PLAN } from '#core/plans.ts'
import { call } from '#core/verb.ts'
import { createRepricingRule, MAX_RULES } from '#market/repricing/create-repricing-rule.ts'
import { deleteRepricingRule } from '#market/repricing/delete-repricing-rule.ts'
import { listRepricingRules } from '#market/repricing/list-repricing-rules.ts'
import { runRepricingRule } from '#market/repricing/run-repricing-rule.ts'
import { simulateRepricingRule } from '#market/repricing/simulate-repricing-rule.ts'
import { TermFields } from '#market/repricing/terms.ts'
import {
  RepricedListingSchema,
  type RepricingRule,
  RepricingRuleSchema,
  RepricingRunSchema,
  SimulationSchema,
} from '#market/repricing/repricing-types.ts'
import { updateRepricingRule } from '#market/repricing/update-repricing-rule.ts'
import { type Builder, cost, fromDatabase, requiresPlan } from '../building/builder.ts'
import { inputFrom, objectFrom } from '../building/from-schema.ts'
import { callByFields, pathOf } from './mutating.ts'
import { messageType, priceWarningType, reasonType } from './results.ts'

export function implementRepricing(builder: Builder): void {
  const rule = addRuleType(builder)
  const reason = reasonType(builder, 'RepricingReason', 'Why a rule sets or keeps a price.')
  objectFrom(builder, RepricedListingSchema, {
    description: 'Effect of a rule on one listing.',
    types: { reason, warnings: priceWarningType(builder) },
    entries: { warnings: 1 },
  })
  const simulation = objectFrom(builder, SimulationSchema, { omit: ['rule_id'] })
  const run = objectFrom(builder, RepricingRunSchema, { omit: ['rule_id'] })
  const input = addInput(builder)
  const deleted = messageType(builder, 'RepricingRuleDeleted', 'Result of a change to a repricing rule.')
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
        resolve: (_root, args, ctx, info) => callByFields(createRepricingRule, ctx, info, args.input),
      }),
      updateRepricingRule: t.field({
        type: rule,
        description: 'Changes the given fields. Changing the terms disables the rule until it is simulated again.',
        args: { id, input: t.arg({ type: input, required: true, description: 'Fields to change.' }) },
        resolve: (_root, args, ctx, info) => callByFields(updateRepricingRule, ctx, info, args.input, pathOf(args)),
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
  objectFrom(builder, TermFields.floor)
  return objectFrom(builder, RepricingRuleSchema, {
    description: 'A rule that sets prices of your published listings. Times are local, with offset.',
    types: { target, scope },
  })
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
  const floor = inputFrom(builder, TermFields.floor, {
    name: 'RepricingFloorInput',
    description: 'Lower limit of a rule: a price, a payout or both.',
  })
  return inputFrom(builder, updateRepricingRule.input, {
    name: 'RepricingRuleInput',
    description: 'A repricing rule. Omitted fields stay unchanged; null clears `ceiling` and `maxMovePercent`.',
    omit: ['id'],
    types: { target, scope, floor },
  })
}
