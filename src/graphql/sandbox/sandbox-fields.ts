// Sandboxes, as under /sandbox over REST.
import { OPERATION_PLAN } from '#core/plans.ts'
import { call } from '#core/verb.ts'
import { advanceSandbox } from '#sandbox/advance-sandbox.ts'
import { createSandbox, deleteSandbox, listSandboxes, resetSandbox } from '#sandbox/change-sandboxes.ts'
import {
  decideInSandbox,
  Price as SandboxPrice,
  refundInSandbox,
  SoldLine,
  SandboxDecisionSchema,
  SandboxOrderSchema,
  SandboxPricesSchema,
  sellInSandbox,
  setPricesInSandbox,
} from '#sandbox/play.ts'
import { NewSandboxSchema, SandboxSchema } from '#sandbox/sandbox-types.ts'
import { withoutNulls } from '../building/arguments.ts'
import { type Builder, cost, fromDatabase, requiresPlan } from '../building/builder.ts'
import { argumentsFrom, inputFrom, objectFrom } from '../building/from-schema.ts'
import { callByFields, pathOf } from '../types/mutating.ts'
import { messageType } from '../types/results.ts'

export function implementSandboxes(builder: Builder): void {
  const sandbox = objectFrom(builder, SandboxSchema, { description: 'A marketplace of your own with a clock that you move.' })
  const created = objectFrom(builder, NewSandboxSchema, { description: 'A new sandbox with its test key.' })
  const deleted = messageType(builder, 'SandboxDeletion', 'Result of deleting a sandbox.')
  builder.queryField('sandboxes', (t) =>
    t.field({
      type: [sandbox],
      nullable: { list: false, items: false },
      description: 'Your sandboxes; with a test key, its own. Plus and above.',
      extensions: { ...cost({ weight: 10 }), ...fromDatabase, ...requiresPlan(OPERATION_PLAN.listSandboxes) },
      resolve: (_root, _args, ctx) => call(listSandboxes, ctx, {}),
    }),
  )
  builder.mutationFields((t) => ({
    createSandbox: t.field({
      type: created,
      description: 'Creates a sandbox; needs a live API key.',
      args: argumentsFrom(t.arg, createSandbox.input),
      resolve: (_root, args, ctx, info) => callByFields(createSandbox, ctx, info, withoutNulls(args)),
    }),
    deleteSandbox: t.field({
      type: deleted,
      description: 'Deletes a sandbox with everything in it; needs a live API key.',
      args: { id: t.arg.id({ required: true, description: 'Id of the sandbox.' }) },
      resolve: (_root, args, ctx, info) => callByFields(deleteSandbox, ctx, info, {}, pathOf(args)),
    }),
    advanceSandbox: t.field({
      type: sandbox,
      description: 'Moves the clock of the sandbox forward; needs its test key.',
      args: argumentsFrom(t.arg, advanceSandbox.input),
      resolve: (_root, args, ctx, info) => callByFields(advanceSandbox, ctx, info, withoutNulls(args)),
    }),
    resetSandbox: t.field({
      type: sandbox,
      description: 'Resets the sandbox to its start; needs its test key.',
      resolve: (_root, _args, ctx, info) => callByFields(resetSandbox, ctx, info, {}),
    }),
  }))
  addPlay(builder)
}

function addPlay(builder: Builder): void {
  const order = objectFrom(builder, SandboxOrderSchema, { description: 'An order in a sandbox.', types: { order_id: 'Float' } })
  const line = inputFrom(builder, SoldLine, { name: 'SandboxLineInput', description: 'A line of an order.' })
  const price = inputFrom(builder, SandboxPrice, { name: 'SandboxPriceInput', description: 'A price of a source.' })
  const decided = objectFrom(builder, SandboxDecisionSchema, { description: 'A listing after a decision.' })
  const posted = objectFrom(builder, SandboxPricesSchema, { description: 'Result of setting prices.' })
  builder.mutationFields((t) => ({
    sellInSandbox: t.field({
      type: order,
      description: 'Sells listings in the sandbox, as the shop does.',
      args: argumentsFrom(t.arg, sellInSandbox.input, { types: { lines: line, order_id: 'Float' } }),
      resolve: (_root, args, ctx, info) => callByFields(sellInSandbox, ctx, info, withoutNulls(args)),
    }),
    refundInSandbox: t.field({
      type: order,
      description: 'Cancels an order in the sandbox, or some of its lines.',
      args: argumentsFrom(t.arg, refundInSandbox.input, { types: { order_id: 'Float' } }),
      resolve: (_root, args, ctx, info) => callByFields(refundInSandbox, ctx, info, withoutNulls(args)),
    }),
    decideInSandbox: t.field({
      type: decided,
      description: 'Approves or rejects a listing in the sandbox, as the operator does.',
      args: argumentsFrom(t.arg, decideInSandbox.input),
      resolve: (_root, args, ctx, info) => callByFields(decideInSandbox, ctx, info, withoutNulls(args)),
    }),
    setPricesInSandbox: t.field({
      type: posted,
      description: 'Sets prices of sources in the sandbox, as the operator does.',
      args: argumentsFrom(t.arg, setPricesInSandbox.input, { types: { prices: price } }),
      resolve: (_root, args, ctx, info) => callByFields(setPricesInSandbox, ctx, info, withoutNulls(args)),
    }),
  }))
}
