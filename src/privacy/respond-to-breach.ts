// Ends all access to an account, of the people with a role, or to everything, in one transaction, and reports who must be told.
import { endAccountAccess, type EndedAccess, endPeopleAccess, endSharedAccess } from '#accounts/end-access.ts'
import { fetchAccount } from '#accounts/account-store.ts'
import { invalid } from '#core/errors.ts'
import { name } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { type Role, ROLES } from '#core/roles.ts'
import { type Viewer, verb } from '#core/verb.ts'
import { change, type Note, type WriteCtx } from '#db/changes/change.ts'
import type { Tx } from '#db/schema.ts'
import { replaceSecrets } from '#webhooks/replace-secrets.ts'
import type { WebhookRules } from '#webhooks/webhook-types.ts'
import type { BreachReport } from './breach-types.ts'

/** Accounts that a report names. */
const MAX_NAMED = 1_000

/** Secrets of webhooks are replaced. */
export type BreachCtx = WriteCtx & { webhooks: Pick<WebhookRules, 'sealing'> }

type Scope = { account: number } | { role: Role } | 'all'

export const respondToBreach = verb(
  {
    name: 'respondToBreach',
    needs: 'owner',
    input: Type.Object({
      account_id: Type.Optional(Type.Integer({ description: 'Only this account' })),
      role: Type.Optional(Type.Enum([...ROLES], { description: 'Only people with this role' })),
      all: Type.Optional(Type.Literal(true, { description: 'Every account, person and token' })),
      reason: name('What happened'),
    }),
  },
  (ctx: BreachCtx, { reason, ...scopes }) =>
    change(ctx, async (tx, note): Promise<BreachReport> => {
      const scope = scopeOf(scopes)
      const now = ctx.now()
      const ended = await endAll(tx, note, scope, now)
      const renewed = await newSecrets(tx, scope, ctx)
      const names = accountsToTell(ended.accounts, renewed)
      const text = scope === 'all' ? 'all' : 'role' in scope ? `role:${scope.role}` : `account:${scope.account}`
      const counts = { sessions: ended.sessions, keys: ended.keys, tokens: ended.tokens, webhook_secrets: renewed.length }
      note.audit({ action: 'breach.respond', subject: 'breach', id: text, after: { ...counts, reason: reason.trim() } })
      return {
        scope: text,
        at: now.toISOString(),
        ended: counts,
        tell: { accounts: names.slice(0, MAX_NAMED), accounts_total: names.length, people: ended.people },
        to_do: toDo(scope, counts),
        way_back: wayBack(ctx.viewer, scope, ended.people),
        person_id: ctx.viewer.kind === 'operator' ? (ctx.viewer.person?.id ?? null) : null,
      }
    }),
)

function scopeOf({ account_id: account, role, all }: { account_id?: number; role?: Role; all?: true }): Scope {
  const given: Scope[] = [
    ...(account === undefined ? [] : [{ account }]),
    ...(role === undefined ? [] : [{ role }]),
    ...(all ? ['all' as const] : []),
  ]
  if (given.length !== 1) throw invalid('all', 'one_scope', { fields: ['account_id', 'role', 'all'] })
  return given[0]!
}

async function endAll(tx: Tx, note: Note, scope: Scope, now: Date): Promise<EndedAccess> {
  const none: EndedAccess = { keys: 0, sessions: 0, tokens: 0, accounts: [], people: [] }
  if (scope !== 'all' && 'account' in scope) {
    const { id } = await fetchAccount(tx, scope.account)
    return { ...none, ...(await endAccountAccess(tx, note, id, now)) }
  }
  const people = await endPeopleAccess(tx, note, scope === 'all' ? null : scope.role, now)
  if (scope !== 'all') return { ...none, ...people }
  const shared = await endSharedAccess(tx, note, now)
  const accounts = await endAccountAccess(tx, note, null, now)
  return {
    ...accounts,
    people: people.people,
    sessions: people.sessions + shared.sessions + accounts.sessions,
    tokens: people.tokens + shared.tokens,
  }
}

async function newSecrets(tx: Tx, scope: Scope, { webhooks: { sealing }, now }: BreachCtx) {
  if (scope !== 'all' && 'role' in scope) return []
  return replaceSecrets(tx, scope === 'all' ? null : scope.account, sealing, now())
}

function accountsToTell(accounts: EndedAccess['accounts'], renewed: readonly { id: number; name: string }[]): BreachReport['tell']['accounts'] {
  const all = new Map(accounts.map((account) => [account.id, { ...account, webhook: false }]))
  for (const { id, name } of renewed) all.set(id, { id, name, keys: all.get(id)?.keys ?? 0, webhook: true })
  return [...all.values()].sort((a, b) => a.id - b.id)
}

function toDo(
  scope: Scope,
  { keys, tokens, webhook_secrets: secrets }: { keys: number; tokens: number; webhook_secrets: number },
): BreachReport['to_do'] {
  return [
    ...(scope === 'all' ? (['bootstrap_token'] as const) : []),
    ...(keys > 0 ? (['new_keys'] as const) : []),
    ...(secrets > 0 ? (['webhook_receivers'] as const) : []),
    ...(scope === 'all' || 'role' in scope ? (['passwords'] as const) : []),
    ...(tokens > 0 ? (['shop_tokens'] as const) : []),
  ]
}

function wayBack(viewer: Viewer, scope: Scope, people: readonly { id: number }[]): BreachReport['way_back'] {
  if (viewer.kind !== 'operator') return 'unchanged'
  if (viewer.person) return people.some(({ id }) => id === viewer.person!.id) ? 'password' : 'unchanged'
  if (scope !== 'all') return 'unchanged'
  if (viewer.name === 'bootstrap') return 'bootstrap_token'
  return viewer.name === 'cli' ? 'unchanged' : 'command_line'
}
