// The caller in queries, as under /me over REST.
import type { Me } from '#accounts/keys/read-me.ts'
import { type Builder, cost, fromDatabase } from '../building/builder.ts'

/** A separate read. */
export const ME_READ = { ...cost({ weight: 10 }), ...fromDatabase }

export function addMeType(builder: Builder) {
  const account = builder.objectRef<Me['account']>('MyAccount').implement({
    description: 'Your account.',
    fields: (t) => ({
      id: t.exposeID('id', { nullable: false, description: 'Unique id.' }),
      name: t.exposeString('name', { nullable: false, description: 'Its name.' }),
      plan: t.exposeString('plan', { nullable: false, description: '`starter`, `professional`, `plus` or `enterprise`.' }),
    }),
  })
  const key = builder.objectRef<Me['key']>('MyKey').implement({
    description: 'The API key of this request.',
    fields: (t) => ({
      label: t.exposeString('label', { nullable: false, description: 'Label of the key.' }),
      last4: t.exposeString('last4', { nullable: false, description: 'Its last four characters.' }),
      expiresAt: t.exposeString('expires_at', { nullable: true, description: 'When it expires, UTC; null: never.' }),
      readOnly: t.exposeBoolean('read_only', { nullable: false, description: 'Whether mutations are rejected with `READ_ONLY_KEY`.' }),
      strict: t.exposeBoolean('strict', {
        nullable: false,
        description: 'Whether unknown query parameters of REST requests are refused, as with `Prefer: handling=strict`.',
      }),
      allowedOrigins: t.exposeStringList('allowed_origins', {
        nullable: false,
        description: 'Origins of web pages that may use the key; empty: no restriction.',
        extensions: cost({ entries: 1 }),
      }),
      allowedAddresses: t.exposeStringList('allowed_addresses', {
        nullable: false,
        description: 'Addresses and ranges from which the key may be used; empty: no restriction.',
        extensions: cost({ entries: 1 }),
      }),
    }),
  })
  const limits = builder.objectRef<Me['limits']>('MyLimits').implement({
    description: 'Limits of the account, across all its keys.',
    fields: (t) => ({ requestsPerMinute: t.exposeInt('requests_per_minute', { nullable: true, description: 'null: unlimited.' }) }),
  })
  const usage = builder.objectRef<Me['usage'][number]>('DailyUsage').implement({
    description: 'Number of calls of an operation on one day.',
    fields: (t) => ({
      day: t.exposeString('day', { nullable: false, description: 'YYYY-MM-DD, UTC.' }),
      operation: t.exposeString('operation', { nullable: false, description: 'Operation id of the REST API, or `graphql`.' }),
      requests: t.exposeInt('requests', { nullable: false, description: 'Requests admitted, whatever their status.' }),
    }),
  })
  return builder.objectRef<Me>('Me').implement({
    description: 'The account of this request.',
    fields: (t) => ({
      account: t.field({ type: account, nullable: false, description: 'Your account.', resolve: (me) => me.account }),
      key: t.field({ type: key, nullable: false, description: 'The key of this request.', resolve: (me) => me.key }),
      limits: t.field({ type: limits, nullable: false, description: 'Limits of the account.', resolve: (me) => me.limits }),
      usage: t.field({
        type: [usage],
        nullable: false,
        description: 'Requests with this key in the last 30 days, latest day first.',
        extensions: cost({ entries: 30 }),
        resolve: (me) => me.usage,
      }),
      highlightCredits: t.exposeInt('highlight_credits', { nullable: false, description: 'Highlights the account has left.' }),
    }),
  })
}
