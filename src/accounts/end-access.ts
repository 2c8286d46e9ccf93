// Ends every way into accounts or the operator API at once: keys, tokens, one-time links and sessions.
import { type SqlBool, sql } from 'kysely'
import type { Role } from '#core/roles.ts'
import type { Note } from '#db/changes/change.ts'
import type { Tx } from '#db/schema.ts'
import { BOOTSTRAP_ID } from './key-holders.ts'
import { forgetAddresses } from './people/attempts.ts'
import { dropLink, endSessions, noteChangedPermissions, revokeTokens } from './people/people-store.ts'

/** What was ended, and whose it was. */
export interface EndedAccess {
  keys: number
  sessions: number
  tokens: number
  /** accounts that had a valid key */
  accounts: { id: number; name: string; keys: number }[]
  /** people whose sessions and tokens ended */
  people: { id: number; name: string }[]
}

/** Revokes the keys of an account, or of all accounts, and ends the sessions of their desks. @param accountId null: all */
export async function endAccountAccess(tx: Tx, note: Note, accountId: number | null, now: Date): Promise<Omit<EndedAccess, 'tokens' | 'people'>> {
  const theirs = accountId === null ? sql<SqlBool>`true` : sql<SqlBool>`account_id = ${accountId}`
  const { numDeletedRows } = await tx
    .deleteFrom('seller_sessions')
    .where('key_id', 'in', tx.selectFrom('api_keys').select('id').where(theirs))
    .executeTakeFirstOrThrow()
  const { rows } = await sql<{ id: number; name: string; keys: number }>`
    with ended as (
      update api_keys set revoked_at = ${now} where ${theirs} and revoked_at is null and (expires_at is null or expires_at > ${now}) returning account_id
    )
    select a.id, a.name, count(*)::int as keys from ended e join accounts a on a.id = e.account_id group by a.id order by a.id`.execute(tx)
  if (rows.length > 0)
    note.changed(
      'accounts',
      rows.map(({ id }) => id),
    )
  return { keys: rows.reduce((sum, { keys }) => sum + keys, 0), sessions: Number(numDeletedRows), accounts: rows }
}

/** Ends the sessions, tokens and one-time links of people. @param role null: all */
export async function endPeopleAccess(
  tx: Tx,
  note: Note,
  role: Role | null,
  now: Date,
): Promise<Pick<EndedAccess, 'sessions' | 'tokens' | 'people'>> {
  const having = role === null ? sql<SqlBool>`true` : sql<SqlBool>`${role} = any(roles)`
  const people = await tx
    .selectFrom('people')
    .select(['id', 'name'])
    .where('removed_at', 'is', null)
    .where(having)
    .orderBy('id')
    .forUpdate()
    .execute()
  let [sessions, tokens] = [0, 0]
  for (const { id } of people) {
    sessions += await endSessions(tx, id)
    tokens += await countTokens(tx, id)
    await revokeTokens(tx, note, id, 'all', now)
    await dropLink(tx, id)
    await forgetAddresses(tx, id)
    noteChangedPermissions(note, id)
  }
  return { sessions, tokens, people }
}

async function countTokens(tx: Tx, personId: number): Promise<number> {
  const valid = tx.selectFrom('person_tokens').select(sql<number>`count(*)::int4`.as('count')).where('person_id', '=', personId)
  return (await valid.where('revoked_at', 'is', null).executeTakeFirstOrThrow()).count
}

/** Revokes the shared operator tokens, and ends the sessions that they or the bootstrap token opened. */
export async function endSharedAccess(tx: Tx, note: Note, now: Date): Promise<Pick<EndedAccess, 'sessions' | 'tokens'>> {
  const sessions = await tx.deleteFrom('console_sessions').returning('id').execute()
  const tokens = await tx.updateTable('operator_tokens').set({ revoked_at: now }).where('revoked_at', 'is', null).returning('id').execute()
  note.changed('operators', [BOOTSTRAP_ID, ...tokens.map(({ id }) => id)])
  return { sessions: sessions.length, tokens: tokens.length }
}
