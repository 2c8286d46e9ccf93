// Declares the public verbs that write: all of them accept `dry_run`, which runs the write and rolls it back.
import { invalid } from '#core/errors.ts'
import { type Static, type TSchema, Type } from '#core/input.ts'
import type { Plan } from '#core/plans.ts'
import type { MessageText } from '#core/problem-texts/messages.ts'
import { type KeyMode, type Verb, verb } from '#core/verb.ts'
import { executeDryRun, type WriteCtx } from './change.ts'

/** The input field of every public write. */
export function dryRunField(description: string) {
  return { dry_run: Type.Optional(Type.Boolean({ description, emptyRefused: true, examples: [true] })) }
}

const DryRun = dryRunField('`1` changes nothing; the response is that of the write, but ids of new objects in it do not exist')

/** Message of a dry run, in place of that of the write. */
export const NOTHING_CHANGED: MessageText = 'Forecast only; nothing was changed'

/** Whether a write that succeeded with this input was a dry run. */
export function isDryRun(input: unknown): boolean {
  return (input as { dry_run?: unknown }).dry_run === true
}

interface DeclaredWrite<In extends TSchema> {
  /** as the verb is exported */
  name: string
  needs: Plan
  /** an object schema, without `dry_run` */
  input: In
  /** its result contains a secret */
  secret?: boolean
  /** the only kind of API keys that may call it; default: both */
  keys?: KeyMode
  /** false: it calls servers outside, which no rollback reverses, so a dry run is refused */
  rehearsable?: boolean
}

/** The input of a write. */
type WithDryRun<In extends TSchema> = TSchema & { static: Static<In> & { dry_run?: boolean } }

/** @param run gets the input without `dry_run`; in a dry run, everything that it writes through `ctx` is rolled back */
export function writeVerb<Ctx extends WriteCtx, In extends TSchema, Out>(
  { name, needs, input, secret = false, keys, rehearsable = true }: DeclaredWrite<In>,
  run: (ctx: Ctx, input: Static<In>) => Promise<Out>,
): Verb<Ctx, WithDryRun<In>, Promise<Out>> {
  const { properties, minProperties } = input as { properties?: Record<string, TSchema>; minProperties?: number }
  const bounds = { additionalProperties: false, ...(minProperties !== undefined && { minProperties }) }
  const accepted = Type.Object({ ...properties, ...DryRun }, bounds) as unknown as WithDryRun<In>
  return verb({ name, needs, secret, writes: true, ...(keys && { keys }), input: accepted }, (ctx: Ctx, sent) => {
    const { dry_run: dryRun = false, ...fields } = sent as Record<string, unknown>
    const own = fields as Static<In>
    if (!dryRun) return run(ctx, own)
    if (!rehearsable) throw invalid('dry_run', 'no_dry_run')
    if (minProperties !== undefined && Object.keys(fields).length < minProperties) throw invalid('body', 'object', { min: minProperties })
    return executeDryRun(ctx, (_tx, rehearsal) => run(rehearsal, own))
  })
}
