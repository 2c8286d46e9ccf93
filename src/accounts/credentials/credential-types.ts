// Accounts, keys and tokens as returned by verbs: field names of the operator API, ready for JSON.
import { orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { PLANS } from '#core/plans.ts'

export type { ReadCtx } from '#db/changes/change.ts'

const Time = Type.String({ format: 'date-time', description: 'UTC' })
const TimeOrNull = orNull(Time)
const LastUse = orNull(Type.String({ format: 'date-time' }), { description: 'First use on the last day (UTC) of use' })
const Last4 = Type.String({ description: 'The last four characters of the key' })

export const AccountSchema = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    plan: Type.Enum([...PLANS]),
    highlight_credits: Type.Integer(),
    suspended: Type.Boolean({ description: "Whether the account's keys are rejected, its listings hidden and its webhooks paused" }),
    listing_intake: orNull(Type.Object({ quota: Type.Integer({ description: 'Maximum number of unsold listings, including parked rows' }) }), {
      description: 'Listing import from files; null if it is not allowed',
    }),
    created_at: Time,
  },
  {
    title: 'Account',
    examples: [
      {
        id: 7,
        name: 'Kart Evi',
        plan: 'plus',
        highlight_credits: 3,
        suspended: false,
        listing_intake: null,
        created_at: '2026-11-21T08:00:00.000Z',
      },
    ],
  },
)
export type Account = Static<typeof AccountSchema>

export const BalanceSchema = Type.Object({ highlight_credits: Type.Integer({ description: 'The new balance' }) }, { title: 'Balance' })
export type Balance = Static<typeof BalanceSchema>

export const CreditEntrySchema = Type.Object(
  {
    id: Type.Integer(),
    amount: Type.Integer({ description: 'Negative if credits were deducted or used' }),
    balance: Type.Integer({ description: 'Balance after the entry' }),
    reason: Type.String(),
    created_at: Time,
  },
  { title: 'CreditEntry' },
)

/** The state of a key; a revoked key stays revoked. */
export const KEY_STATES = ['valid', 'expired', 'revoked'] as const

export const ApiKeySchema = Type.Object(
  {
    id: Type.Integer(),
    account_id: Type.Integer(),
    label: Type.String(),
    last4: Last4,
    read_only: Type.Boolean({ description: 'Whether operations that change something are rejected with `READ_ONLY_KEY`' }),
    strict: Type.Boolean({ description: 'Whether unknown query parameters are refused (422), as with `Prefer: handling=strict`' }),
    allowed_origins: Type.Array(Type.String(), { description: 'Origins of web pages that may use the key; empty: no restriction' }),
    allowed_addresses: Type.Array(Type.String(), { description: 'Addresses and ranges from which the key may be used; empty: no restriction' }),
    created_at: Time,
    last_used_at: LastUse,
    expires_at: TimeOrNull,
    revoked_at: TimeOrNull,
  },
  { title: 'ApiKey' },
)
export type ApiKey = Static<typeof ApiKeySchema>

export const NewApiKeySchema = Type.Object(
  { ...ApiKeySchema.properties, key: Type.String({ description: 'The key; shown only once' }) },
  { title: 'NewApiKey' },
)
export type NewApiKey = Static<typeof NewApiKeySchema>

export const KeyUsageSchema = Type.Object(
  {
    key_id: Type.Integer(),
    day: Type.String({ format: 'date', description: 'UTC' }),
    operation: Type.String({ description: 'Operation id from the public API reference, or `graphql`', examples: ['listItems'] }),
    requests: Type.Integer({ description: 'Requests admitted, whatever their status' }),
  },
  { title: 'KeyUsage' },
)

export const OperatorTokenSchema = Type.Object(
  {
    id: Type.Integer(),
    label: Type.String(),
    last4: Type.String({ description: 'The last four characters of the token' }),
    created_at: Time,
    last_used_at: LastUse,
    revoked_at: TimeOrNull,
  },
  { title: 'OperatorToken' },
)
export type OperatorToken = Static<typeof OperatorTokenSchema>
export type NewOperatorToken = OperatorToken & { token: string }
