// Sandboxes as responses show them, and what the operations on them need.
import { orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { namedValues } from '#core/named-values.ts'

export const SANDBOX_STATUSES = namedValues('SandboxStatus', ['ready', 'advancing', 'failed'])

export const SANDBOX_PROBLEMS = namedValues('SandboxProblem', ['interrupted', 'time_limit', 'size_limit', 'error', 'missing'])
/** Why work in a sandbox ended early: the node stopped, it took too long, there is too much data, an error was logged, or its data is gone. */
export type SandboxProblem = (typeof SANDBOX_PROBLEMS)[number]

/** Largest number of entries in `fired`; the others are only counted. */
export const MAX_FIRED = 1_000

export const FiredSchema = Type.Object(
  {
    at: Type.String({ format: 'date-time', description: 'Time of the sandbox at which it happened, in UTC' }),
    action: Type.String({ description: 'What happened: an action of the audit log, or `webhook.deliver`', examples: ['listing.expire'] }),
    subject: Type.String({ description: 'Kind of the thing that it happened to', examples: ['listing'] }),
    id: Type.String({ description: 'Its id', examples: ['12'] }),
    attempt: Type.Optional(Type.Integer({ description: 'Of a delivery: the number of the attempt' })),
    success: Type.Optional(Type.Boolean({ description: 'Of a delivery: whether the receiver accepted it' })),
  },
  { title: 'Fired', description: 'Something that became due while a sandbox was advanced' },
)
export type Fired = Static<typeof FiredSchema>

export const SandboxSchema = Type.Object(
  {
    id: Type.Integer({ description: 'Id of the sandbox' }),
    status: Type.Enum([...SANDBOX_STATUSES], { description: 'Whether it can be used, is being advanced or reset, or has failed' }),
    now: Type.String({ format: 'date-time', description: 'The time in the sandbox, in UTC' }),
    starts_at: Type.String({ format: 'date-time', description: 'The time at which it started, and to which a reset returns' }),
    seed: Type.Integer({ description: 'Seed by which its listings were chosen' }),
    last4: Type.String({ description: 'The last four characters of its test key' }),
    created_at: Type.String({ format: 'date-time', description: 'When it was created, by the real clock' }),
    last_used_at: Type.String({ format: 'date-time', description: 'When it was last used, by the real clock, to the hour' }),
    removed_after: Type.String({ format: 'date-time', description: 'When it is removed if it is not used before' }),
    problem: orNull(Type.Enum([...SANDBOX_PROBLEMS]), {
      description:
        'Why the last advance or reset ended early, null if it did not: `interrupted` (the node stopped) and `time_limit` can be continued with another ' +
        'advance; after `size_limit`, `error` and `missing`, reset the sandbox',
    }),
    fired: Type.Array(FiredSchema, { description: `What the last advance caused, in order; at most ${MAX_FIRED} entries` }),
    fired_total: Type.Integer({ description: 'Number of all entries of the last advance' }),
  },
  { title: 'Sandbox' },
)
export type Sandbox = Static<typeof SandboxSchema>

export const NewSandboxSchema = Type.Object(
  { ...SandboxSchema.properties, key: Type.String({ description: 'The test key, shown only here' }) },
  { title: 'NewSandbox' },
)
export type NewSandbox = Static<typeof NewSandboxSchema>
