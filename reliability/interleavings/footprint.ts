// What a statement touches, by its text and the schema's foreign keys, and which steps of two writes therefore depend on their order.
import type { Db } from '#db/schema.ts'
import { sqlOf } from './world.ts'

/** Tables, or parts of them, that a step touches. Advisory locks count as a table. */
export interface Footprint {
  /** read without a lock: sees what is committed */
  reads: ReadonlySet<string>
  writes: ReadonlySet<string>
  /** written, or locked exclusively */
  locks: ReadonlySet<string>
  /** locked for share */
  shares: ReadonlySet<string>
  /** locked against deletion by foreign keys */
  references: ReadonlySet<string>
  /** tables in which rows may be deleted or locked for update, against which `references` wait */
  exclusive: ReadonlySet<string>
  /** what the transaction that ends with this step has done; null unless it ends */
  ends: Touched | null
}

/** What a transaction has done so far. */
export interface Touched {
  writes: Set<string>
  locks: Set<string>
  shares: Set<string>
}

export function nothing(): Touched {
  return { writes: new Set(), locks: new Set(), shares: new Set() }
}

export function touch(touched: Touched, { writes, locks, shares }: Footprint): void {
  for (const name of writes) touched.writes.add(name)
  for (const name of locks) touched.locks.add(name)
  for (const name of shares) touched.shares.add(name)
}

const NONE: ReadonlySet<string> = new Set()
export const EMPTY: Footprint = { reads: NONE, writes: NONE, locks: NONE, shares: NONE, references: NONE, exclusive: NONE, ends: null }
/** Rows are only inserted here, under new ids: insertions of different writes do not conflict. */
const LOGS = new Set(['audit_log', 'change_log', 'simulated_changes', 'webhook_events', 'credit_entries', 'price_points', 'sales'])
/** What is logged here is read into the node's memory right after the commit, and every write may read that memory before its next statement. */
const LOG = 'change_log'
/** Rows of orders, which the shop numbers. */
const ORDER_ID = /\b[78]\d{3}\b/g
const KEYS = 'idempotency_keys'
/** Statements that choose listings by their ids alone; every small number among their values may be one. */
const BY_LISTING =
  /^\s*(select [^()]* from "listings" where "id" = \S+( (order by "id" )?for update)?$|update "listings" set [\s\S]* where "id" = \S+ returning|update "listings" set [\s\S]*json_populate_recordset)|from "listings" as "l" where "l"."id" = any\(\S+\) order by "l"."id" for update of "l"$|^\s*select "[^()]*from "listings" where "id" = any\(\S+\) order by "id" for update$/
const SMALL_ID = /\b[1-9]\b/g
const ID_IN_JSON = /(?<="id":)\d+/g

function listingIds(text: string, values: string): readonly string[] {
  return values.match(text.includes('json_populate_recordset') ? ID_IN_JSON : SMALL_ID) ?? []
}

const ADVISORY = 'advisory locks'
const TARGET = /\b(insert into|update|delete from|merge into)\s+(?:only\s+)?(?:public\.)?"?([a-z_]+)"?/g
const LOCKING = /\bfor (update|no key update|share|key share)\b(?: of "?(\w+)"?)?/
const WORD = /[a-z_]+/g

/** The schema, as far as footprints need it. */
export class Footprints {
  /** tables behind each table, view and function */
  readonly #names = new Map<string, string[]>()
  /** tables that a table's rows refer to */
  readonly #referenced = new Map<string, Set<string>>()
  /** tables whose rows a deletion also changes */
  readonly #cascades = new Map<string, Set<string>>()
  /** tables that the triggers of an event of a table write */
  readonly #triggered = new Map<string, Set<string>>()
  readonly #cache = new Map<string, Footprint>()

  static async read(db: Db): Promise<Footprints> {
    const footprints = new Footprints()
    const tables = await sqlOf(db, `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')`)
    for (const { name } of tables) footprints.#names.set(name as string, [name as string])
    const views = await sqlOf(
      db,
      `select view_name as name, table_name as behind from information_schema.view_table_usage where view_schema = 'public'`,
    )
    for (const { name, behind } of views) footprints.#names.set(name as string, [...(footprints.#names.get(name as string) ?? []), behind as string])
    const functions = await sqlOf(
      db,
      `select proname as name, prosrc || coalesce(pg_get_function_sqlbody(oid), '') as body from pg_proc where pronamespace = 'public'::regnamespace`,
    )
    const bodies = functions.map(({ name, body }) => [name as string, footprints.#mentioned(body as string)] as const)
    for (const [name, behind] of bodies) footprints.#names.set(name, [...behind])
    const keys = await sqlOf(
      db,
      `select conrelid::regclass::text as from_table, confrelid::regclass::text as to_table, confdeltype in ('c', 'n', 'd') as cascades
       from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace`,
    )
    for (const { from_table: from, to_table: to, cascades } of keys) {
      footprints.#add(footprints.#referenced, from as string, to as string)
      if (cascades) footprints.#add(footprints.#cascades, to as string, from as string)
    }
    const triggers = await sqlOf(
      db,
      `select t.tgrelid::regclass::text as on_table, p.prosrc as body, t.tgtype & 4 > 0 as inserts, t.tgtype & 8 > 0 as deletes, t.tgtype & 16 > 0 as updates
       from pg_trigger t join pg_proc p on p.oid = t.tgfoid where not t.tgisinternal`,
    )
    for (const { on_table: table, body, ...events } of triggers) {
      const behind = [...(body as string).toLowerCase().matchAll(TARGET)].flatMap(([, , name]) => footprints.#names.get(name!) ?? [])
      for (const event of ['inserts', 'deletes', 'updates'] as const)
        if (events[event]) for (const written of behind) footprints.#add(footprints.#triggered, `${event} ${String(table)}`, written)
    }
    return footprints
  }

  /**
   * The footprint of a statement; if it runs outside of a transaction, it also ends one (`ending`).
   * @param values of its parameters, as one text
   * @param key of its request, whose results no other request reads
   */
  of(text: string, values: string, key: string): Footprint {
    const footprint = this.#ofText(text)
    const parts: Record<string, readonly string[]> = {
      [KEYS]: [key],
      orders: values.match(ORDER_ID) ?? [],
      listings: BY_LISTING.test(text) ? listingIds(text, values) : [],
    }
    const precise = (names: ReadonlySet<string>): ReadonlySet<string> =>
      new Set([...names].flatMap((name) => (parts[name]?.length ? parts[name].map((part) => `${name} ${part}`) : name)))
    const { reads, writes, locks, shares, exclusive } = footprint
    return {
      ...footprint,
      reads: precise(reads),
      writes: precise(writes),
      locks: precise(locks),
      shares: precise(shares),
      exclusive: precise(exclusive),
    }
  }

  #ofText(text: string): Footprint {
    const known = this.#cache.get(text)
    if (known) return known
    const lower = text.toLowerCase()
    const mentioned = this.#mentioned(lower)
    const writes = new Set<string>()
    const exclusive = new Set<string>()
    const changed = new Set<string>()
    for (const [, how, name] of lower.matchAll(TARGET)) {
      for (const table of this.#names.get(name!) ?? []) {
        const merges = how !== 'delete from' && (how !== 'insert into' || lower.includes('on conflict'))
        const events = [...(how === 'delete from' ? ['deletes'] : how === 'update' ? [] : ['inserts']), ...(merges ? ['updates'] : [])]
        this.#write(table, events, writes, exclusive)
        if (how !== 'insert into' || merges) changed.add(table)
      }
    }
    const locks = new Set([...writes].filter((table) => !LOGS.has(table) || changed.has(table)))
    const shares = new Set<string>()
    const [, strength, alias] = LOCKING.exec(lower) ?? []
    const locked = alias === undefined ? mentioned : this.#named(lower, alias, mentioned)
    if (strength !== undefined) for (const table of locked) (strength.endsWith('share') ? shares : locks).add(table)
    if (strength === 'update') for (const table of locked) exclusive.add(table)
    if (lower.includes('try_advisory_xact_lock(hashtextextended(name')) locks.add(KEYS)
    else if (lower.includes('advisory_xact_lock')) locks.add(ADVISORY)
    const references = new Set([...writes].flatMap((table) => [...(this.#referenced.get(table) ?? [])]))
    const footprint = { reads: new Set([...mentioned, ...references]), writes, locks, shares, references, exclusive, ends: null }
    this.#cache.set(text, footprint)
    return footprint
  }

  #write(table: string, events: readonly string[], writes: Set<string>, exclusive: Set<string>): void {
    const deletes = events.includes('deletes')
    if (deletes) exclusive.add(table)
    if (writes.has(table)) return
    writes.add(table)
    for (const event of events)
      for (const behind of this.#triggered.get(`${event} ${table}`) ?? []) this.#write(behind, ['inserts', 'updates'], writes, exclusive)
    if (deletes) for (const behind of this.#cascades.get(table) ?? []) this.#write(behind, ['deletes', 'updates'], writes, exclusive)
  }

  /** The tables that an alias names; all if its declaration is not found. */
  #named(text: string, alias: string, mentioned: ReadonlySet<string>): ReadonlySet<string> {
    const [, name] = new RegExp(`"?(\\w+)"?\\s+(?:as\\s+)?"?${alias}"?[\\s,)]`).exec(text) ?? []
    const behind = this.#names.get(name ?? alias) ?? this.#names.get(alias)
    return behind ? new Set(behind) : mentioned
  }

  #mentioned(text: string): Set<string> {
    return new Set((text.toLowerCase().match(WORD) ?? []).flatMap((word) => this.#names.get(word) ?? []))
  }

  #add(to: Map<string, Set<string>>, key: string, value: string): void {
    const values = to.get(key) ?? new Set()
    to.set(key, values.add(value))
  }
}

/** The footprint of the step that ends a transaction. */
export function ending(step: Footprint, touched: Touched): Footprint {
  const ends = { writes: new Set(touched.writes), locks: new Set(touched.locks), shares: new Set(touched.shares) }
  touch(ends, step)
  return { ...step, ends }
}

/** The footprint of an error or a rollback: locks end, but nothing becomes visible. */
export function undoing(step: Footprint, { locks, shares }: Touched): Footprint {
  return { ...step, ends: { writes: new Set(), locks: new Set(locks), shares: new Set(shares) } }
}

/** Whether the order of two steps of different writes can matter. */
export function areDependent(one: Footprint, other: Footprint): boolean {
  if (changesMemory(one) || changesMemory(other)) return true
  return meet(one.locks, other.locks) || waits(one, other) || waits(other, one) || sees(one, other) || sees(other, one)
}

function changesMemory({ ends }: Footprint): boolean {
  return ends?.writes.has(LOG) ?? false
}

function waits({ references, shares }: Footprint, { exclusive, locks }: Footprint): boolean {
  return meet(references, exclusive) || meet(shares, locks)
}

/** Whether a step sees, or has waited for, what the end of a transaction makes visible and unlocks. */
function sees({ reads, locks, shares }: Footprint, { ends }: Footprint): boolean {
  return ends !== null && (meet(reads, ends.writes) || meet(locks, ends.locks) || meet(locks, ends.shares) || meet(shares, ends.locks))
}

function meet(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  for (const name of one) if (other.has(name) || meetsPart(name, other)) return true
  return false
}

/** A whole table meets its parts. */
function meetsPart(name: string, others: ReadonlySet<string>): boolean {
  const space = name.indexOf(' ')
  if (space > 0) return others.has(name.slice(0, space))
  for (const other of others) if (other.startsWith(name) && other[name.length] === ' ') return true
  return false
}
