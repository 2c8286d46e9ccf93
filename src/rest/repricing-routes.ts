// Repricing rules of a seller.
import { Type } from '#core/input.ts'
import type { MessageText } from '#core/problem-texts/messages.ts'
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
} from '#market/repricing/repricing-types.ts'
import { updateRepricingRule } from '#market/repricing/update-repricing-rule.ts'

const path = '/plus/repricing-rules'
const tag = 'Listings'

export const repricingRoutes: Route<RepricingCtx>[] = [
  {
    method: 'GET',
    path,
    verb: listRepricingRules,
    summary: 'List your repricing rules',
    description: 'In order of precedence: a listing that matches several rules belongs to the first enabled one.',
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
      'A rule sets prices of your published listings: a target limited by a floor, a ceiling and a largest change. It is ' +
      'off until you simulate and enable it; then it runs every hour. It never uses disputed, stale or held prices, or your own listings.',
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
    summary: 'Change fields of a repricing rule',
    description: 'Each field is replaced as a whole. Changing the target, scope, floor or a limit disables the rule until it is simulated again.',
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
    description: 'Prices stay unchanged.',
    tag,
    answer: ({ message }: { message: MessageText }) => ({ data: undefined, message }),
    errors: ['NOT_FOUND'],
  },
  {
    method: 'POST',
    path: `${path}/:id/simulate`,
    verb: simulateRepricingRule,
    summary: 'Simulate a repricing rule',
    description:
      'Shows what the rule would do now, and what it would have done on each previous day, based on the price history and the sales at ' +
      'that time. Past listings are not recorded, so `days` is empty for the target `cheapest`. No price changes; afterwards the rule can be enabled.',
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
      'A rule that is off can be run too, if its current terms were simulated. The changes form a price job with a reason for each listing; read or undo ' +
      'it under `/plus/price-jobs/{id}`. If nothing changes, no job is created.',
    tag,
    answer: (run: RepricingRun) => ({ data: run }),
    data: RepricingRunSchema,
    errors: ['NOT_FOUND', 'CONFLICT'],
  },
]
