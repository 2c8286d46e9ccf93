// Repricing rules of a seller (additions.md, "Listings and sellers").
import { Type } from '#core/input.ts'
import type { Route } from '#http/route.ts'
import { createRepricingRule } from '#market/repricing/create-repricing-rule.ts'
import { deleteRepricingRule } from '#market/repricing/delete-repricing-rule.ts'
import { listRepricingRules } from '#market/repricing/list-repricing-rules.ts'
import { runRepricingRule } from '#market/repricing/run-repricing-rule.ts'
import { simulateRepricingRule } from '#market/repricing/simulate-repricing-rule.ts'
import {
  type RepricingCtx,
  type RepricingRule,
  RepricingRuleSchema,
  type RepricingRun,
  RepricingRunSchema,
  type Simulation,
  SimulationSchema,
} from '#market/repricing/types.ts'
import { updateRepricingRule } from '#market/repricing/update-repricing-rule.ts'

const path = '/plus/repricing-rules'
const tag = 'Listings'

export const repricingRoutes: Route<RepricingCtx>[] = [
  {
    method: 'GET',
    path,
    verb: listRepricingRules,
    summary: 'Your repricing rules',
    description: 'In the order in which they take their listings: one that two rules are for belongs to the first that is enabled.',
    tag,
    answer: (rules: RepricingRule[]) => ({ data: rules }),
    data: Type.Array(RepricingRuleSchema),
  },
  {
    method: 'POST',
    path,
    verb: createRepricingRule,
    summary: 'Create a repricing rule',
    description:
      'A rule sets prices of your published listings: a target within a floor, a ceiling and a largest move. It is off until you have ' +
      'simulated it and enabled it; then it runs every hour. Disputed, stale and held prices are never used, nor your own listings.',
    tag,
    status: 201,
    answer: (rule: RepricingRule) => ({ data: rule, message: 'Repricing rule created' }),
    data: RepricingRuleSchema,
    errors: ['CONFLICT', 'INVALID_JSON'],
  },
  {
    method: 'PATCH',
    path: `${path}/:id`,
    verb: updateRepricingRule,
    summary: 'Change a repricing rule in part',
    description: 'Each field is replaced as a whole. With another target, scope, floor or limit the rule is off until it is simulated again.',
    tag,
    answer: (rule: RepricingRule) => ({ data: rule, message: 'Repricing rule updated' }),
    data: RepricingRuleSchema,
    errors: ['NOT_FOUND', 'CONFLICT', 'INVALID_JSON'],
  },
  {
    method: 'DELETE',
    path: `${path}/:id`,
    verb: deleteRepricingRule,
    summary: 'Delete a repricing rule',
    description: 'Prices stay as it left them.',
    tag,
    answer: ({ message }: { message: string }) => ({ data: undefined, message }),
    errors: ['NOT_FOUND'],
  },
  {
    method: 'POST',
    path: `${path}/:id/simulate`,
    verb: simulateRepricingRule,
    summary: 'Simulate a repricing rule',
    description:
      'What it would do now, and what it would have done on each of the days before, by the price history and the sales of then. Of listings as ' +
      'they were nothing is kept: `days` of a rule with the target `cheapest` is empty. No price changes; the rule may be used afterwards.',
    tag,
    answer: (simulation: Simulation) => ({ data: simulation }),
    data: SimulationSchema,
    errors: ['NOT_FOUND', 'INVALID_JSON'],
  },
  {
    method: 'POST',
    path: `${path}/:id/run`,
    verb: runRepricingRule,
    summary: 'Run a repricing rule now',
    description:
      'Also one that is off, if it was simulated as it is. What changes is a price job with a reason for each listing: read it, or undo it, under ' +
      '`/plus/price-jobs/{id}`. Without a change there is none.',
    tag,
    answer: (run: RepricingRun) => ({ data: run }),
    data: RepricingRunSchema,
    errors: ['NOT_FOUND', 'CONFLICT'],
  },
]
