// SQL of people, their links, sessions and tokens.
import { type RawBuilder, sql } from 'kysely'
import { DAY_MS } from '#core/duration.ts'
import { conflict, unauthenticated } from '#core/errors.ts'
import { existing, missing } from '#core/fields.ts'
import { reason } from '#core/problems.ts'
import type { Person as Caller, Role } from '#core/roles.ts'
import type { Viewer } from '#core/verb.ts'
import type { Note } from '#db/changes/change.ts'
import { jsonReady } from '#db/json-ready.ts'
import type { Db, Queryable, Tx } from '#db/schema.ts'
import { mapUniqueViolation } from '#db/unique.ts'
import { hashKey, newKey } from '../credentials/key-format.ts'
import { nameKey } from './attempts.ts'
import type { Person, PersonToken } from './people-types.ts'

const LINK_MS = DAY_MS
export const TOKEN_COLUMNS = ['id', 'label', 'last4', 'created_at', 'last_used_at', 'revoked_at'] as const
export const PERSON_COLUMNS = [
  'id',
  'name',
  'roles',
  sql<boolean>`password_hash is not null`.as('has_password'),
  sql<boolean>`totp_secret is not null`.as('two_factor'),
  sql<boolean>`provider_subject is not null`.as('by_provider'),
  sql<Date | null>`(select l.expires_at from person_links l where l.person_id = people.id)`.as('link_expires_at'),
  'created_at',
] as const

export function personViewer({ id, name, roles }: { id: number; name: string; roles: Role[] }, more: Partial<Omit<Caller, 'id' | 'roles'>>): Viewer {
  // The id distinguishes two people who had the same name at different times; names contain no `#`.
  return Object.freeze({ kind: 'operator', name: `${name}#${id}`, person: Object.freeze({ id, roles, ...more }) })
}

/** The id that identifies a person in the change log; those of shared tokens are above 0. */
export function ownerOf(personId: number): number {
  return -personId
}

/** Makes every node read the person's permissions again. */
export function noteChangedPermissions(note: Note, personId: number): void {
  note.changed('operators', [ownerOf(personId)])
}

export async function fetchPerson(on: Queryable, id: number): Promise<Person> {
  const row = await people(on).select(PERSON_COLUMNS).where('id', '=', existing('person', id)).executeTakeFirst()
  if (!row) throw missing('person', id)
  return jsonReady(row)
}

/** @throws CONFLICT if the name is in use */
export async function insertPerson(tx: Tx, { name, roles, now }: { name: string; roles: Role[]; now: Date }): Promise<number> {
  const values = { name, name_key: nameKey(name), roles, created_at: now }
  const insert = tx.insertInto('people').values(values).returning('id')
  return (await refuseTakenName(() => insert.executeTakeFirstOrThrow())).id
}

/** @throws CONFLICT if another person has the name */
export async function renamePerson(tx: Tx, id: number, name: string): Promise<void> {
  await refuseTakenName(() =>
    tx
      .updateTable('people')
      .set({ name, name_key: nameKey(name) })
      .where('id', '=', id)
      .execute(),
  )
}

/** Sets roles, unless no owner would be left. @throws CONFLICT */
export function setRoles(tx: Tx, id: number, roles: Role[]): Promise<void> {
  return exceptLastOwner(tx, id, sql`set roles = ${roles}::text[]`, sql`'owner' = any(${roles}::text[])`)
}

/** Removes a person permanently, unless no owner would be left. @throws CONFLICT */
export function markRemoved(tx: Tx, id: number, now: Date): Promise<void> {
  return exceptLastOwner(tx, id, sql`set removed_at = ${now}, password_hash = null, totp_secret = null, totp_pending = null`, sql`false`)
}

/**
 * One statement that locks all owners in one order: if two owners remove each other at the same time, the second sees the change of
 * the first.
 */
async function exceptLastOwner(tx: Tx, id: number, assignments: RawBuilder<unknown>, staysOwner: RawBuilder<unknown>): Promise<void> {
  const { rows } = await sql<{ id: number }>`
    with owners as materialized (select id from people where removed_at is null and 'owner' = any(roles) order by id for update)
    update people ${assignments}
    where id = ${id} and removed_at is null
      and (${staysOwner} or not exists (select from owners o where o.id = ${id}) or exists (select from owners o where o.id <> ${id}))
    returning id`.execute(tx)
  if (rows.length === 0) throw conflict('last_owner')
}

/**
 * Creates a one-time link that replaces the previous one, as a path of the console; null for the link of the first owner if
 * there is already an owner.
 */
export async function insertLink(tx: Tx, person: { id: number; name: string } | null, now: Date): Promise<{ path: string; expiresAt: Date } | null> {
  const link = newKey('link')
  const expiresAt = new Date(now.getTime() + LINK_MS)
  const { rows } = await sql`
    insert into person_links (hash, person_id, expires_at)
    select ${hashKey(link)}, ${person?.id ?? null}::integer, ${expiresAt}
    where ${person !== null} or not exists (${OWNERS})
    on conflict (person_id) do update set hash = excluded.hash, expires_at = excluded.expires_at
    returning person_id`.execute(tx)
  if (rows.length === 0) return null
  // In the fragment, which browsers do not send to the server.
  return { path: `/console/join#${new URLSearchParams({ link, ...(person && { name: person.name }) }).toString()}`, expiresAt }
}

/** Uses the link of the first owner; null if it is not valid, or there is an owner already. @throws CONFLICT if the name is taken */
export async function spendOwnerLink(tx: Tx, link: string, name: string, passwordHash: string, now: Date): Promise<number | null> {
  const insert = sql<{ id: number }>`
    with used as (delete from person_links where hash = ${hashKey(link)} and person_id is null and expires_at > ${now} returning hash)
    insert into people (name, name_key, roles, password_hash, created_at)
    select ${name}, ${nameKey(name)}, array['owner'], ${passwordHash}, ${now} from used where not exists (${OWNERS})
    returning id`
  return (await refuseTakenName(() => insert.execute(tx))).rows[0]?.id ?? null
}

/** Uses a person's link; null if it is not valid. */
export async function spendLink(tx: Tx, link: string, passwordHash: string, now: Date): Promise<number | null> {
  const { rows } = await sql<{ id: number }>`
    with used as (delete from person_links where hash = ${hashKey(link)} and person_id is not null and expires_at > ${now} returning person_id)
    update people set password_hash = ${passwordHash}, totp_secret = null, totp_pending = null
    from used where id = used.person_id and removed_at is null
    returning id`.execute(tx)
  return rows[0]?.id ?? null
}

const OWNERS = sql`select from people where removed_at is null and 'owner' = any(roles)`

/** The person's name of a valid link, null for the link of the first owner; undefined for an unknown or expired link. */
export async function findLink({ kysely }: Db, link: string, now: Date): Promise<{ name: string | null } | undefined> {
  const links = kysely.selectFrom('person_links as l').leftJoin('people as p', 'p.id', 'l.person_id').select('p.name')
  return links.where('l.hash', '=', hashKey(link)).where('l.expires_at', '>', now).executeTakeFirst()
}

/** Deletes the person's sign-in secrets. */
export async function clearSecrets(tx: Tx, id: number): Promise<void> {
  await tx.updateTable('people').set({ password_hash: null, totp_secret: null, totp_pending: null }).where('id', '=', id).execute()
}

export async function dropLink(tx: Tx, personId: number): Promise<void> {
  await tx.deleteFrom('person_links').where('person_id', '=', personId).execute()
}

/** Ends sessions: one, all but one, or all. */
export async function endSessions(tx: Tx, personId: number, { only, except }: { only?: number; except?: number } = {}): Promise<number> {
  let sessions = tx.deleteFrom('person_sessions').where('person_id', '=', personId)
  if (only !== undefined) sessions = sessions.where('id', '=', only)
  if (except !== undefined) sessions = sessions.where('id', '<>', except)
  return (await sessions.returning('id').execute()).length
}

/** Which tokens to revoke: one of a person, all, or only those that others got with them. */
export type RevokedTokens = { only: number } | 'all' | 'of others'

/** Revokes tokens of a person, and all that were created with them, also those of other people. */
export async function revokeTokens(tx: Tx, note: Note, personId: number, which: RevokedTokens, now: Date): Promise<void> {
  const roots = sql`person_id = ${personId} and ${typeof which === 'object' ? sql`id = ${which.only}` : sql`true`}`
  const spared = which === 'of others' ? sql`person_id <> ${personId}` : sql`true`
  for (;;) {
    // A token that is being created with one of these locks it until its commit, and is found by the next round.
    const { rows } = await sql<{ id: number; person_id: number; parent_id: number | null }>`
      with recursive ended as (
        select id from person_tokens where ${roots}
        union select t.id from person_tokens t join ended e on t.parent_id = e.id
      )
      update person_tokens set revoked_at = ${now}
      where id in (select id from ended) and revoked_at is null and ${spared}
      returning id, person_id, parent_id`.execute(tx)
    if (rows.length === 0) return
    for (const { id, person_id: owner, parent_id: parent } of rows) {
      noteChangedPermissions(note, owner)
      if (owner !== personId || (typeof which === 'object' && id !== which.only))
        note.audit({ action: 'person-token.revoke', subject: 'person-token', id, after: { person_id: owner, created_with: parent } })
    }
  }
}

export async function fetchToken(on: Queryable, personId: number, id: number): Promise<PersonToken> {
  const tokens = on.selectFrom('person_tokens').select(TOKEN_COLUMNS).where('person_id', '=', personId)
  const row = await tokens.where('id', '=', existing('operator token', id)).executeTakeFirst()
  if (!row) throw missing('operator token', id)
  return jsonReady(row)
}

/** @throws UNAUTHENTICATED if the token that creates it has just been revoked */
export async function insertToken(
  tx: Tx,
  values: { person_id: number; label: string; hash: Buffer; last4: string; parent_id: number | null; created_at: Date },
): Promise<PersonToken> {
  const { parent_id: parentId } = values
  if (parentId !== null) {
    const parent = tx.selectFrom('person_tokens').select('id').where('id', '=', parentId).where('revoked_at', 'is', null).forShare()
    if (!(await parent.executeTakeFirst())) throw unauthenticated(reason('credential', { credential: 'operator token', state: 'revoked' }))
  }
  return jsonReady(await tx.insertInto('person_tokens').values(values).returning(TOKEN_COLUMNS).executeTakeFirstOrThrow())
}

/** The data of a person for a sign-in; undefined if no person has the name or id. */
export function findSecrets({ kysely }: Db, by: { key: string } | { id: number }) {
  const found = people(kysely).select(['id', 'name', 'roles', 'password_hash', 'totp_secret', 'totp_pending'])
  return ('id' in by ? found.where('id', '=', by.id) : found.where('name_key', '=', by.key)).executeTakeFirst()
}

export function people(on: Queryable) {
  return on.selectFrom('people').where('removed_at', 'is', null)
}

/** Runs a write; throws CONFLICT if another person has the name, even if it was taken after the check. */
function refuseTakenName<T>(write: () => Promise<T>): Promise<T> {
  return mapUniqueViolation(write, (index) => (index === 'people_by_name' ? conflict('taken', { thing: 'person', field: 'name' }) : null))
}
