// Carries out requests for erasure: short transactions over every table with personal data, until a whole pass finds nothing.
import { sql } from 'kysely'
import type { Log } from '#core/context.ts'
import { reloadNodes } from '#db/changes/change-feed.ts'
import { noteCollector, type WriteCtx } from '#db/changes/change.ts'
import { rewriteAuditEntries, type StoredAuditEntry } from '#db/changes/audit-log.ts'
import { inTransaction } from '#db/connection/transaction.ts'
import { entriesOfPerson, type EntryOfPerson, withoutPerson } from '#db/personal/audit-entries.ts'
import { ERASED_TEXT } from '#db/personal/person-keys.ts'
import { type PersonRef, rowsOf } from '#db/personal/rows-of-person.ts'
import { type TableOfPeople, TABLES_OF_PEOPLE } from '#db/personal/tables-of-people.ts'
import type { Db, Tx } from '#db/schema.ts'
import { forgetPhotos } from '#photos/photo-store.ts'
import type { PhotoFiles } from '#photos/photo-files.ts'
import { countErased, dueErasures, finishPass, isAlone, lockErasure, type RunningErasure } from './erasure-store.ts'

export type ErasureTaskCtx = Pick<WriteCtx, 'db' | 'now'> & { files: PhotoFiles; log: Log }

/** Rows per transaction. */
const BATCH = 500
/** Entries of the audit log that one statement looks at. */
const AUDIT_RANGE = 20_000
const SYSTEM = { viewer: { kind: 'operator', name: 'erasure' }, requestId: null } as const

/** @returns the number of requests that this run has finished */
export async function runErasures(ctx: ErasureTaskCtx, signal?: AbortSignal): Promise<number> {
  let done = 0
  for (const id of await dueErasures(ctx.db.kysely, ctx.now())) if (await eraseOne(ctx, id, signal)) done += 1
  return done
}

/** Passes over all tables until one finds nothing; a pass that is cut off continues with the next run. @returns whether it is done */
async function eraseOne(ctx: ErasureTaskCtx, id: number, signal?: AbortSignal): Promise<boolean> {
  const { db, now, log } = ctx
  let removedListings = false
  for (;;) {
    const alone = await isAlone(db.kysely, id)
    const erased = await onePass(ctx, id, signal)
    if (erased === null) return false
    removedListings ||= erased.listings > 0
    if (erased.total > 0) continue
    if (!alone) return false
    const finished = await inTransaction(db, async (tx) => {
      const erasure = await lockErasure(tx, id)
      if (!erasure) return false
      const { isDone } = erasure
      await finishPass(tx, erasure, now())
      if (removedListings || (!isDone && erasure.listings > 0)) await reloadNodes(tx)
      const { noteOf, write } = noteCollector(tx, now)
      if (!isDone) noteOf(SYSTEM).audit({ action: 'erasure.finish', subject: 'erasure', id })
      await write()
      return true
    })
    if (finished) log.info({ erasure: id }, 'Erased a person')
    return finished
  }
}

/** @returns rows removed or overwritten, in all tables and of listings; null if another node has the request */
async function onePass(ctx: ErasureTaskCtx, id: number, signal?: AbortSignal): Promise<{ total: number; listings: number } | null> {
  const { db } = ctx
  const steps: Step[] = [
    auditStep(await auditRange(db)),
    idempotencyStep,
    ...Object.entries(TABLES_OF_PEOPLE).map(([table, words]) => tableStep(table, words)),
  ]
  const erased = { total: 0, listings: 0 }
  for (const { table, batch, next } of steps) {
    for (let state: 'more' | 'end' = 'more'; state === 'more'; ) {
      signal?.throwIfAborted()
      const outcome = await inTransaction(db, async (tx) => {
        const erasure = await lockErasure(tx, id)
        if (!erasure) return null
        const { rows, more } = await batch(tx, erasure, ctx.now())
        if (rows > 0) await countErased(tx, id, table, rows)
        return { rows, more }
      })
      if (!outcome) return null
      erased.total += outcome.rows
      if (table === 'listings') erased.listings += outcome.rows
      next?.()
      state = outcome.more ? 'more' : 'end'
    }
    if (table === 'photos') await forgetPhotos(db, ctx.files, ctx.now())
  }
  return erased
}

interface Step {
  table: string
  /** Erases a batch of rows. */
  batch: (tx: Tx, erasure: RunningErasure, now: Date) => Promise<{ rows: number; more: boolean }>
  /** Moves on; a transaction may run twice. */
  next?: () => void
}

function tableStep(table: string, words: TableOfPeople): Step {
  return {
    table,
    async batch(tx, { person, pseudonym }, now) {
      const theirs = rowsOf(table, person, true)
      if (!theirs) return { rows: 0, more: false }
      const some = (where: ReturnType<typeof sql>) =>
        sql`(select ctid from ${sql.table(table)} where ${theirs} and ${where} limit ${BATCH} for update)`
      if (words.removed && person.kind === 'account') return removeRows(tx, now, table, some)
      const changes = Object.entries(words.changes ?? {}).filter(([, { of }]) => of === person.kind)
      if (changes.length === 0) return { rows: 0, more: false }
      const values = changes.map(([column, { to }]) => ({ column: sql.ref(column), value: to === 'pseudonym' ? sql`${pseudonym}` : sql.raw(to) }))
      const differs = sql.join(
        values.map(({ column, value }) => sql`${column} is distinct from ${value}`),
        sql` or `,
      )
      const { numAffectedRows } = await sql`
        update ${sql.table(table)} set ${sql.join(values.map(({ column, value }) => sql`${column} = ${value}`))}
        where ctid = any(array${some(sql`(${differs})`)})`.execute(tx)
      return { rows: Number(numAffectedRows), more: Number(numAffectedRows) === BATCH }
    },
  }
}

async function removeRows(
  tx: Tx,
  now: Date,
  table: string,
  some: (where: ReturnType<typeof sql>) => ReturnType<typeof sql>,
): Promise<{ rows: number; more: boolean }> {
  if (table === 'photos') {
    // Their files are removed with them.
    const { numAffectedRows } = await sql`
      update ${sql.table(table)} set remove_after = 'epoch' where ctid = any(array${some(sql`remove_after is distinct from 'epoch'`)})`.execute(tx)
    return { rows: Number(numAffectedRows), more: Number(numAffectedRows) === BATCH }
  }
  const isListings = table === 'listings'
  const { rows, numAffectedRows } = await sql<{ id: number }>`
    delete from ${sql.table(table)} where ctid = any(array${some(sql`true`)}) ${isListings ? sql`returning id` : sql``}`.execute(tx)
  if (rows.length > 0) {
    const { noteOf, write } = noteCollector(tx, () => now)
    noteOf(SYSTEM).changed(
      'listings',
      rows.map(({ id }) => id),
    )
    await write()
  }
  const count = isListings ? rows.length : Number(numAffectedRows ?? 0)
  return { rows: count, more: count === BATCH }
}

const idempotencyStep: Step = {
  table: 'idempotency_keys',
  async batch(tx, { person }) {
    if (person.kind !== 'account') return { rows: 0, more: false }
    const { numAffectedRows } = await sql`delete from ${sql.table('idempotency_keys')} where scope = ${`account:${person.id}`}`.execute(tx)
    return { rows: Number(numAffectedRows ?? 0), more: false }
  },
}

async function auditRange({ kysely }: Db): Promise<{ from: number; to: number }> {
  const { rows } = await sql<{ from: number | null; to: number | null }>`select min(id) as from, max(id) as to from audit_log`.execute(kysely)
  return { from: rows[0]!.from ?? 1, to: rows[0]!.to ?? 0 }
}

/** Looks at the whole audit log, one range of ids after another. */
function auditStep({ from, to }: { from: number; to: number }): Step {
  let start = from
  return {
    table: 'audit_log',
    async batch(tx, { person, pseudonym }) {
      const end = start + AUDIT_RANGE
      const entries = await findEntries(tx, person, { from: start, to: end })
      const rewritten = entries.flatMap((entry) => {
        const states = withoutPerson(entry, person, (_old, field) => (field === 'reference' ? pseudonym : ERASED_TEXT))
        return states ? [{ id: entry.id, ...states }] : []
      })
      if (rewritten.length > 0) await rewriteAuditEntries(tx, rewritten)
      return { rows: rewritten.length, more: end <= to }
    },
    next: () => void (start += AUDIT_RANGE),
  }
}

type FoundEntry = StoredAuditEntry & EntryOfPerson

/** Entries about a person with ids in [from, to). */
export async function findEntries(tx: Tx, person: PersonRef, { from, to }: { from: number; to: number }): Promise<FoundEntry[]> {
  const { rows } = await sql<FoundEntry>`
    select a.id, a.at, a.actor, a.action, a.subject_type, a.subject_id, a.before::text as before, a.after::text as after, a.request_id,
      case when a.subject_type = 'order' and a.subject_id ~ '^[0-9]{1,18}$'
        then (select b.reference from order_buyers b where b.order_id = a.subject_id::int8) end as order_buyer
    from audit_log a where a.id >= ${from} and a.id < ${to} and ${entriesOfPerson(person)}`.execute(tx)
  return rows
}
