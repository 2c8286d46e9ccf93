// Fields of people in entries of the audit log: who an entry is about, which of its texts are personal, and how they are replaced or sealed.
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { StoredAuditEntry } from '../changes/audit-log.ts'
import type { PersonKeys } from './person-keys.ts'
import type { PersonRef } from './rows-of-person.ts'

/** Fields of `before` and `after` that name a buyer. */
const BUYER_FIELDS = ['buyer_reference']
/** Fields that name an account. */
const ACCOUNT_FIELDS = ['account_id', 'seller_id', 'buyer_account_id']
/** Subjects whose id is that of an account. */
const ACCOUNT_SUBJECTS = ['account', 'webhook']

/** Texts that are never personal: those of closed lists. Every other text of an entry about a person is. */
const IMPERSONAL: ReadonlySet<string> = new Set(
  (
    'status state plan visibility currency kind event format policy decision mode ' +
    'method language shipping_payer listing_status field grader source last4'
  ).split(' '),
)
const NUMBER_OR_TIME = /^(-?\d{1,15}(\.\d{1,10})?|\d{4}-\d\d-\d\d([T ][\d:.]+(Z|[+-]\d\d(:?\d\d)?)?)?)$/

type Json = null | boolean | number | string | Json[] | { [field: string]: Json }

/** An entry, with the reference of the buyer if its subject is an order. */
export type EntryOfPerson = Pick<StoredAuditEntry, 'actor' | 'subject_type' | 'subject_id' | 'before' | 'after'> & { order_buyer?: string | null }

interface Owners {
  account: PersonRef | null
  /** of an order */
  buyer: PersonRef | null
}

/** Who an entry is about. */
function ownersOf({ actor, subject_type: subject, subject_id: id, order_buyer: buyer }: EntryOfPerson, states: readonly Json[]): Owners {
  const named = (fields: readonly string[]) => {
    for (const state of states) {
      if (state === null || typeof state !== 'object' || Array.isArray(state)) continue
      for (const field of fields) if (Object.hasOwn(state, field) && state[field] !== null) return state[field]!
    }
    return null
  }
  const accountId = Number(/^account:(\d+)$/.exec(actor)?.[1] ?? (ACCOUNT_SUBJECTS.includes(subject) ? id : named(ACCOUNT_FIELDS)))
  const reference = named(BUYER_FIELDS) ?? buyer
  return {
    account: Number.isSafeInteger(accountId) && accountId > 0 ? { kind: 'account', id: accountId } : null,
    buyer: typeof reference === 'string' && reference !== '' ? { kind: 'buyer', reference } : null,
  }
}

/** Replaces the personal texts of a state. @param replace the new text of a text of this person */
function mapPersonal(state: Json, { account, buyer }: Owners, replace: (text: string, person: PersonRef) => string, field = ''): Json {
  if (typeof state === 'string') {
    const person = BUYER_FIELDS.includes(field) ? buyer : (account ?? buyer)
    if (person === null || state === '' || IMPERSONAL.has(field) || (NUMBER_OR_TIME.test(state) && !BUYER_FIELDS.includes(field))) return state
    return replace(state, person)
  }
  if (Array.isArray(state)) return state.map((one) => mapPersonal(one, { account, buyer }, replace, field))
  if (state === null || typeof state !== 'object') return state
  return Object.fromEntries(Object.entries(state).map(([name, value]) => [name, mapPersonal(value, { account, buyer }, replace, name)]))
}

const parsed = (text: string | null): Json => (text === null ? null : (JSON.parse(text) as Json))
const written = (state: Json): string | null => (state === null ? null : JSON.stringify(state))
type States = Pick<StoredAuditEntry, 'before' | 'after'>

/** Whether an entry is about a person. */
export function isAbout(entry: EntryOfPerson, person: PersonRef): boolean {
  const { account, buyer } = ownersOf(entry, [parsed(entry.before), parsed(entry.after)])
  return isSame(account, person) || isSame(buyer, person)
}

function isSame(one: PersonRef | null, other: PersonRef): boolean {
  if (one?.kind === 'account') return other.kind === 'account' && one.id === other.id
  return one?.kind === 'buyer' && other.kind === 'buyer' && one.reference === other.reference
}

/** The states of an entry with replaced texts of one person; null if it has none. */
export function withoutPerson(entry: EntryOfPerson, person: PersonRef, text: (old: string, field: 'text' | 'reference') => string): States | null {
  const states = [parsed(entry.before), parsed(entry.after)]
  const owners = ownersOf(entry, states)
  let changed = false
  const [before, after] = states.map((state) =>
    mapPersonal(state, owners, (old, of) => {
      if (!isSame(of, person)) return old
      const next = text(old, of.kind === 'buyer' && old === of.reference ? 'reference' : 'text')
      changed ||= next !== old
      return next
    }),
  )
  return changed ? { before: written(before!), after: written(after!) } : null
}

/** Seals the personal texts of entries. */
export async function sealEntries<Entry extends EntryOfPerson>(keys: PersonKeys, entries: readonly Entry[]): Promise<Entry[]> {
  const read = entries.map((entry) => {
    const states = [parsed(entry.before), parsed(entry.after)]
    return { entry, states, owners: ownersOf(entry, states) }
  })
  await keys.prepare(read.flatMap(({ owners: { account, buyer } }) => [account, buyer].filter((one) => one !== null)))
  return read.map(({ entry, states, owners }) => {
    if (!owners.account && !owners.buyer) return entry
    const [before, after] = states.map((state) => mapPersonal(state, owners, (text, person) => keys.seal(text, person)))
    return { ...entry, before: written(before!), after: written(after!) }
  })
}

/** Opens the sealed texts of entries; those of erased people become `ERASED_TEXT`. */
export async function openEntries<Entry extends States>(
  keys: Pick<PersonKeys, 'prepareSealed' | 'open'>,
  entries: readonly Entry[],
): Promise<Entry[]> {
  const texts: string[] = []
  const mapTexts = (state: Json, map: (text: string) => string): Json => {
    if (typeof state === 'string') return map(state)
    if (Array.isArray(state)) return state.map((one) => mapTexts(one, map))
    if (state === null || typeof state !== 'object') return state
    return Object.fromEntries(Object.entries(state).map(([name, value]) => [name, mapTexts(value, map)]))
  }
  const isSealed = (text: string | null) => text?.includes('"sealed:') === true
  for (const { before, after } of entries) {
    for (const state of [before, after]) {
      if (!isSealed(state)) continue
      mapTexts(parsed(state), (text) => {
        if (text.startsWith('sealed:')) texts.push(text)
        return text
      })
    }
  }
  if (texts.length === 0) return [...entries]
  await keys.prepareSealed(texts)
  const opened = (state: string | null) => (isSealed(state) ? written(mapTexts(parsed(state), (text) => keys.open(text))) : state)
  return entries.map((entry) => ({ ...entry, before: opened(entry.before), after: opened(entry.after) }))
}

/** The condition for entries of `audit_log` (`a`) that may be about a person. */
export function entriesOfPerson(person: PersonRef): RawBuilder<SqlBool> {
  if (person.kind === 'buyer') {
    const { reference } = person
    return sql<SqlBool>`(a.after ->> 'buyer_reference' = ${reference} or a.before ->> 'buyer_reference' = ${reference}
      or (a.subject_type = 'order' and a.subject_id in (select order_id::text from order_buyers where reference = ${reference})))`
  }
  const id = String(person.id)
  const fields = ACCOUNT_FIELDS.map((field) => sql<SqlBool>`a.after ->> ${sql.lit(field)} = ${id} or a.before ->> ${sql.lit(field)} = ${id}`)
  return sql<SqlBool>`(a.actor = ${`account:${id}`} or (a.subject_type in ('account', 'webhook') and a.subject_id = ${id})
    or ${sql.join(fields, sql` or `)})`
}
