// Exports everything about an account or a buyer as one JSON document: every row that leads to them, without hashes and sealed secrets.
import { Readable } from 'node:stream'
import { sql } from 'kysely'
import { startTimer, stopTimer } from '#core/process/time-and-chance.ts'
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { fetchAccount } from '#accounts/account-store.ts'
import type { AuditArchive } from '#audit/archive/audit-file.ts'
import { Turns } from '#core/concurrency/turns.ts'
import { change } from '#db/changes/change.ts'
import { isAbout, openEntries } from '#db/personal/audit-entries.ts'
import { PersonKeys } from '#db/personal/person-keys.ts'
import { type PersonRef, rowsOf, words } from '#db/personal/rows-of-person.ts'
import { TABLES_OF_PEOPLE } from '#db/personal/tables-of-people.ts'
import { rowBatches } from '#db/row-batches.ts'
import type { Tx } from '#db/schema.ts'
import { openSnapshot } from '#db/snapshot.ts'
import { buyerReference } from './erase-person.ts'
import type { PrivacyCtx } from './erasure-types.ts'
import { findEntries } from './run-erasures.ts'

/** Rows in memory at a time. */
const BATCH = 500
const AUDIT_RANGE = 20_000
/** A client that reads nothing for this long loses the rest, because the snapshot keeps old row versions in the database. */
const STALLED_MS = 60_000
/** Exports at a time: each occupies a connection. */
const turns = new Turns(2)

export const exportAccountData = verb(
  { name: 'exportAccountData', needs: 'support', input: Type.Object({ account_id: id('account') }) },
  async (ctx: PrivacyCtx, { account_id: accountId }): Promise<Readable> => {
    const account = await fetchAccount(ctx.db.kysely, accountId)
    await change(ctx, async (_tx, note) => note.audit({ action: 'personal-data.export', subject: 'account', id: account.id }))
    return limited(document(ctx, { kind: 'account', id: account.id }))
  },
)

export const exportBuyerData = verb(
  { name: 'exportBuyerData', needs: 'support', input: Type.Object({ buyer_reference: buyerReference }) },
  async (ctx: PrivacyCtx, { buyer_reference: text }): Promise<Readable> => {
    const reference = text.trim()
    await change(ctx, async (_tx, note) =>
      note.audit({ action: 'personal-data.export', subject: 'buyer', id: 'reference', after: { buyer_reference: reference } }),
    )
    return limited(document(ctx, { kind: 'buyer', reference }))
  },
)

/** Ends a document that nobody reads. */
function limited(parts: AsyncGenerator<string>): Readable {
  const stalled = () => startTimer(() => body.destroy(new Error('The client stopped reading the export')), STALLED_MS)
  async function* watched(): AsyncGenerator<string> {
    for await (const part of parts) {
      const timer = stalled()
      try {
        yield part
      } finally {
        stopTimer(timer)
      }
    }
  }
  const body = Readable.from(watched())
  return body
}

async function* document(ctx: PrivacyCtx, person: PersonRef): AsyncGenerator<string> {
  await turns.take()
  try {
    const { db, close } = await openSnapshot(ctx)
    try {
      const of = person.kind === 'account' ? { account_id: person.id } : { buyer_reference: person.reference }
      yield `{"success":true,"data":{"of":${JSON.stringify(of)},"as_of":${JSON.stringify(ctx.now())},"tables":{`
      let first = true
      for (const [table, { secret, others }] of Object.entries(TABLES_OF_PEOPLE)) {
        const theirs = rowsOf(table, person)
        if (!theirs) continue
        yield `${first ? '' : ','}${JSON.stringify(table)}:[`
        first = false
        const rows = sql`select (to_jsonb(t) - ${[...words(secret), ...words(others)]}::text[])::text as row from ${sql.table(table)} t where ${theirs}`
        yield* array(rowsOfTable(db.kysely as Tx, rows))
        yield ']'
      }
      yield '},"audit":['
      yield* array(auditOf(ctx, db.kysely as Tx, person))
      yield ']}}'
    } finally {
      await close()
    }
  } finally {
    turns.end()
  }
}

async function* array(batches: AsyncIterable<string[]>): AsyncGenerator<string> {
  let separator = ''
  for await (const batch of batches) {
    if (batch.length === 0) continue
    yield separator + batch.join(',')
    separator = ','
  }
}

async function* rowsOfTable(tx: Tx, rows: ReturnType<typeof sql>): AsyncGenerator<string[]> {
  for await (const batch of rowBatches<{ row: string }>(tx, rows, BATCH)) yield batch.map(({ row }) => row)
}

/** Entries of the archive first, then those of the database: oldest first. */
async function* auditOf(
  { db, auditArchive }: { db: PrivacyCtx['db']; auditArchive: AuditArchive },
  tx: Tx,
  person: PersonRef,
): AsyncGenerator<string[]> {
  const keys = new PersonKeys(db.kysely)
  const archived = await tx.selectFrom('audit_archives').select('file').where('file', 'is not', null).orderBy('month').execute()
  for (const { file } of archived) {
    const opened = await auditArchive.open(file!)
    for await (const group of opened.groups()) {
      for (let at = 0; at < group.length; at += BATCH) {
        const entries = await openEntries(keys, group.slice(at, at + BATCH))
        yield entries.filter((entry) => isAbout(entry, person)).map(jsonOf)
      }
    }
  }
  const { from, to } = (await tx
    .selectFrom('audit_log')
    .select([sql<number>`coalesce(min(id), 1)`.as('from'), sql<number>`coalesce(max(id), 0)`.as('to')])
    .executeTakeFirst())!
  for (let at = Number(from); at <= Number(to); at += AUDIT_RANGE) {
    const entries = await findEntries(tx, person, { from: at, to: at + AUDIT_RANGE })
    for (let i = 0; i < entries.length; i += BATCH) yield entries.slice(i, i + BATCH).map(jsonOf)
  }
}

function jsonOf({
  id,
  at,
  actor,
  action,
  subject_type: type,
  subject_id: subject,
  before,
  after,
}: Awaited<ReturnType<typeof findEntries>>[number]): string {
  const facts = JSON.stringify({ id, at, actor, action, subject_type: type, subject_id: subject })
  return `${facts.slice(0, -1)},"before":${before ?? 'null'},"after":${after ?? 'null'}}`
}
