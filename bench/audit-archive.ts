// `node bench/audit-archive.ts [entries]`: a month of the audit log is archived, emptied from the database, listed and restored.
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { monthsOfAudit } from '#audit/archive/archive-audit.ts'
import { openAuditArchive } from '#audit/archive/audit-file.ts'
import { listAudit } from '#audit/list-audit.ts'
import { call } from '#core/verb.ts'
import { archiveMonth, type ArchiveStep, restoreMonth } from '#files/month-archive.ts'
import { startDatabaseServer } from './database.ts'
import { randomNumbers } from '#core/random.ts'

const ENTRIES = Number(process.argv[2] ?? 1_000_000)
const SUBJECTS = 200_000
const READS = 100
const MONTH = '2025-03'

const pick = randomNumbers(7)
const folder = mkdtempSync(join(tmpdir(), 'mintmark-audit-archive-'))
const server = await startDatabaseServer()
try {
  const { ctx, close } = await server.create('audit')
  const { db } = ctx
  await sql`
    insert into audit_log (at, actor, action, subject_type, subject_id, before, after, request_id)
    select '2025-03-01Z'::timestamptz + n * interval '31 days' / ${ENTRIES}, 'account:' || n % 5000,
      (array['listing.update', 'listing.pause', 'listing.approve', 'account.update'])[1 + n % 4], 'listing', (n * 7919 % ${SUBJECTS})::text,
      jsonb_build_object('price', (n % 9000)::text || '.50', 'quantity', n % 9, 'status', 'active'),
      jsonb_build_object('price', (n % 9100)::text || '.50', 'quantity', n % 8, 'status', 'active'), gen_random_uuid()::text
    from generate_series(0, ${ENTRIES - 1}::int8) n`.execute(db.kysely)
  await sql`vacuum analyze audit_log`.execute(db.kysely)
  const { rows: sizes } = await sql<{ bytes: string }>`select pg_total_relation_size('audit_log') as bytes`.execute(db.kysely)
  console.log(`${ENTRIES} entries, ${(Number(sizes[0]!.bytes) / ENTRIES).toFixed(0)} B each in the database with its indexes`)

  const archive = openAuditArchive({ archiveDir: folder, dumpsS3: null })
  const lists = { subject: () => ({ subject_type: 'listing', subject_id: String(Math.floor(pick() * SUBJECTS)) }), actor, period, page }
  const inDatabase = new Map<string, string>()
  for (const [name, query] of Object.entries(lists)) inDatabase.set(name, await times(query))

  let last = performance.now()
  const seconds = new Map<ArchiveStep, number>()
  const onStep = (step: ArchiveStep) => {
    seconds.set(step, (performance.now() - last) / 1_000)
    last = performance.now()
  }
  const { file } = (await archiveMonth(monthsOfAudit(archive), { db, now: new Date(), onStep }, MONTH))!
  const at = (step: ArchiveStep) => seconds.get(step)!
  console.log(`Written at ${rate(at('written'))}, read back at ${rate(at('verified'))}, deleted from the database at ${rate(at('emptied'))}`)
  console.log(`File: ${(statSync(join(folder, file!)).size / ENTRIES).toFixed(1)} B an entry`)
  for (const [name, query] of Object.entries(lists)) console.log(`List by ${name}: database ${inDatabase.get(name)}, archive ${await times(query)}`)
  last = performance.now()
  await restoreMonth(monthsOfAudit(archive), db, MONTH)
  console.log(`Restored at ${rate((performance.now() - last) / 1_000)}`)
  await close()

  function actor() {
    return { actor: `account:${Math.floor(pick() * 5000)}` }
  }

  function period() {
    const from = new Date(Date.UTC(2025, 2, 1 + Math.floor(pick() * 29)))
    return { from: from.toISOString(), to: new Date(from.getTime() + 3_600_000).toISOString() }
  }

  function page() {
    return { page: 1 + Math.floor(pick() * 100), per_page: 100 }
  }

  async function times(query: () => object): Promise<string> {
    const taken: number[] = []
    for (let i = 0; i < READS; i++) {
      const from = performance.now()
      await call(listAudit, { ...ctx, auditArchive: archive }, query())
      taken.push(performance.now() - from)
    }
    taken.sort((a, b) => a - b)
    return `p50 ${taken[READS / 2]!.toFixed(1)} ms, p99 ${taken.at(-2)!.toFixed(1)} ms`
  }
} finally {
  await server.close()
  rmSync(folder, { recursive: true })
}

function rate(seconds: number): string {
  return `${Math.round(ENTRIES / seconds).toLocaleString('en')} entries a second`
}
