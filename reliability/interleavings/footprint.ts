// What a statement touches, by its text and the schema's foreign keys, and which steps of two writes therefore depend on their order.
import type { Db } from '#db/schema.ts'
import { sqlOf } from './world.ts'

/** Tables that a step touches. Advisory locks count as one table. */
export interface Footprint {
  /** read without a lock: sees what is committed */
  reads: ReadonlySet<string>
  /** written or locked */
  locks: ReadonlySet<string>
  /** locked against deletion by foreign keys */
  references: ReadonlySet<string>
  /** tables in which rows may be deleted or locked for update, against which `references` wait */
  exclusive: ReadonlySet<string>
  writes: ReadonlySet<string>
  /** what the transaction that ends with this step has written or locked; empty unless it ends */
  ends: ReadonlySet<string>
}

const NONE: ReadonlySet<string> = new Set()
export const EMPTY: Footprint = { reads: NONE, locks: NONE, references: NONE, exclusive: NONE, writes: NONE, ends: NONE }
const ADVISORY = 'advisory locks'
const TARGET = /\b(insert into|update|delete from|merge into)\s+(?:only\s+)?(?:public\.)?"?([a-z_]+)"?/g
const LOCKING = /\bfor (update|no key update|share|key share)\b/
const WORD = /[a-z_]+/g

/** The schema, as far as footprints need it. */
export class Footprints {
  /** tables behind each table, view and function */
  readonly #names = new Map<string, string[]>()
  /** tables that a table's rows refer to */
  readonly #referenced = new Map<string, Set<string>>()
  /** tables whose rows a deletion also changes */
  readonly #cascades = new Map<string, Set<string>>()
  readonly #cache = new Map<string, Footprint>()

  static async read(db: Db): Promise<Footprints> {
    const footprints = new Footprints()
    const tables = await sqlOf(db, `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')`)
    for (const { name } of tables) footprints.#names.set(name as string, [name as string])
    const views = await sqlOf(db, `select view_name as name, table_name as behind from information_schema.view_table_usage where view_schema = 'public'`)
    for (const { name, behind } of views) footprints.#names.set(name as string, [...(footprints.#names.get(name as string) ?? []), behind as string])
    const functions = await sqlOf(db, `select proname as name, prosrc || coalesce(pg_get_function_sqlbody(oid), '') as body from pg_proc where pronamespace = 'public'::regnamespace`)
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
      `select distinct t.tgrelid::regclass::text as on_table, p.proname as name from pg_trigger t join pg_proc p on p.oid = t.tgfoid where not t.tgisinternal`,
    )
    for (const { on_table: table, name } of triggers) for (const behind of footprints.#names.get(name as string)!) footprints.#add(footprints.#cascades, table as string, behind)
    return footprints
  }

  /** The footprint of a statement outside of a transaction ends with it: see `ending`. */
  of(text: string): Footprint {
    const known = this.#cache.get(text)
    if (known) return known
    const lower = text.toLowerCase()
    const mentioned = this.#mentioned(lower)
    const writes = new Set<string>()
    const exclusive = new Set<string>()
    for (const [, how, name] of lower.matchAll(TARGET)) {
      for (const table of this.#names.get(name!) ?? []) this.#write(table, how === 'delete from', writes, exclusive)
    }
    const locks = new Set(writes)
    if (LOCKING.test(lower)) {
      for (const table of mentioned) locks.add(table)
      if (/\bfor update\b/.test(lower)) for (const table of mentioned) exclusive.add(table)
    }
    if (lower.includes('advisory_xact_lock')) locks.add(ADVISORY)
    const references = new Set([...writes].flatMap((table) => [...(this.#referenced.get(table) ?? [])]))
    const footprint = { reads: new Set([...mentioned, ...references]), locks, references, exclusive, writes, ends: NONE }
    this.#cache.set(text, footprint)
    return footprint
  }

  #write(table: string, deletes: boolean, writes: Set<string>, exclusive: Set<string>): void {
    if (deletes) exclusive.add(table)
    if (writes.has(table)) return
    writes.add(table)
    // Triggers run at every write, cascades at deletions; the difference does not matter here.
    for (const behind of this.#cascades.get(table) ?? []) if (deletes || TRIGGERED.has(table)) this.#write(behind, deletes, writes, exclusive)
  }

  #mentioned(text: string): Set<string> {
    return new Set((text.toLowerCase().match(WORD) ?? []).flatMap((word) => this.#names.get(word) ?? []))
  }

  #add(to: Map<string, Set<string>>, key: string, value: string): void {
    const values = to.get(key) ?? new Set()
    to.set(key, values.add(value))
  }
}

const TRIGGERED = new Set(['prices', 'held_prices'])

/** The changes of nodes' memory are read right after a commit, so commits that log changes depend on each other. */
const LOG = 'change_log'

/** The footprint of the step that ends a transaction which has touched `touched`. */
export function ending(step: Footprint, touched: ReadonlySet<string>): Footprint {
  const ends = new Set([...touched, ...step.locks])
  return { ...step, ends, reads: ends.has(LOG) ? new Set([...step.reads, LOG]) : step.reads }
}

/** Whether the order of two steps of different writes can matter. */
export function areDependent(one: Footprint, other: Footprint): boolean {
  return meet(one.locks, other.locks) || waits(one, other) || waits(other, one) || sees(one, other) || sees(other, one)
}

function waits({ references }: Footprint, { exclusive }: Footprint): boolean {
  return meet(references, exclusive)
}

/** Whether a step sees, or has waited for, what the end of a transaction makes visible and unlocks. */
function sees({ reads, locks }: Footprint, { ends }: Footprint): boolean {
  return meet(reads, ends) || meet(locks, ends)
}

function meet(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  if (one.size > other.size) return meet(other, one)
  for (const name of one) if (other.has(name)) return true
  return false
}
