// Returns the caller's account, key, limits and usage: the first call of a new integration.
import { orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { OPERATION_PLAN, PLANS, type Plan } from '#core/plans.ts'
import { verb } from '#core/verb.ts'
import type { WriteCtx } from '#db/changes/change.ts'
import { fetchAccount, fetchKey } from '../account-store.ts'
import { type KeyUsage, USAGE_DAYS } from './usage.ts'

/** Context of `readMe`. */
export interface MeCtx extends Pick<WriteCtx, 'db' | 'viewer'> {
  /** requests a minute by plan, null for no limits */
  rateLimits: Readonly<Record<Plan, number>> | null
  usage: Pick<KeyUsage, 'countsOf'>
}

export const MeSchema = Type.Object(
  {
    account: Type.Object(
      { id: Type.Integer({ description: 'Unique id' }), name: Type.String({ description: 'Its name' }), plan: Type.Enum([...PLANS]) },
      { title: 'MyAccount', description: 'Your account' },
    ),
    key: Type.Object(
      {
        label: Type.String({ description: 'Label of the key' }),
        last4: Type.String({ description: 'The last four characters of the key' }),
        expires_at: orNull(Type.String({ format: 'date-time' }), { description: 'When it expires, UTC; null: never' }),
        read_only: Type.Boolean({ description: 'Whether operations that change something are rejected with `READ_ONLY_KEY`' }),
        strict: Type.Boolean({ description: 'Whether unknown query parameters are refused (422), as with `Prefer: handling=strict`' }),
        allowed_origins: Type.Array(Type.String(), { description: 'Origins of web pages that may use the key; empty: no restriction' }),
        allowed_addresses: Type.Array(Type.String(), { description: 'Addresses and ranges from which the key may be used; empty: no restriction' }),
      },
      { title: 'MyKey', description: 'The API key of this request' },
    ),
    limits: Type.Object(
      { requests_per_minute: orNull(Type.Integer(), { description: 'Requests per minute of the account, across all its keys; null: unlimited' }) },
      { title: 'MyLimits', description: 'Limits of the account, across all its keys' },
    ),
    usage: Type.Array(
      Type.Object(
        {
          day: Type.String({ format: 'date', description: 'UTC' }),
          operation: Type.String({ description: 'Operation id from the API reference, or `graphql`', examples: ['listItems'] }),
          requests: Type.Integer({ description: 'Requests admitted, whatever their status' }),
        },
        { title: 'DailyUsage', description: 'Number of calls of an operation on one day' },
      ),
      { description: `Requests with this key in the last ${USAGE_DAYS} days, latest day first; requests to other nodes are added within a minute` },
    ),
    highlight_credits: Type.Integer({ description: 'Highlights the account has left' }),
    listing_intake_open: Type.Boolean({ description: 'Whether the account may create and import listings' }),
  },
  { title: 'Me', description: 'The account of this request' },
)
export type Me = Static<typeof MeSchema>

export const readMe = verb(
  { name: 'readMe', needs: OPERATION_PLAN.readMe, input: Type.Object({}) },
  async ({ db, viewer, rateLimits, usage }: MeCtx): Promise<Me> => {
    if (viewer.kind !== 'account') throw new Error('Only API keys have an account')
    const [account, key, counts] = await Promise.all([
      fetchAccount(db.kysely, viewer.accountId),
      fetchKey(db.kysely, viewer.keyId),
      usage.countsOf(viewer.keyId),
    ])
    const { id, name, plan, highlight_credits, listing_intake } = account
    const { label, last4, expires_at, read_only, strict, allowed_origins, allowed_addresses } = key
    return {
      account: { id, name, plan },
      key: { label, last4, expires_at, read_only, strict, allowed_origins, allowed_addresses },
      limits: { requests_per_minute: rateLimits?.[plan] ?? null },
      usage: summed(counts),
      highlight_credits,
      listing_intake_open: listing_intake !== null,
    }
  },
)

/** One row per day and operation, latest day first. */
function summed(rows: readonly Me['usage'][number][]): Me['usage'] {
  const byDay = new Map<string, Me['usage'][number]>()
  for (const { day, operation, requests } of rows) {
    const key = `${day} ${operation}`
    byDay.set(key, { day, operation, requests: requests + (byDay.get(key)?.requests ?? 0) })
  }
  return [...byDay.values()].sort((a, b) => (a.day === b.day ? (a.operation < b.operation ? -1 : 1) : a.day < b.day ? 1 : -1))
}
