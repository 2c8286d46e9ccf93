// The archive of the audit log: the list is the same before archiving, while months are in files, and after they are restored.
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { DAY_MS } from '#core/duration.ts'
import { forgetOldAudit, monthsOfAudit } from '#audit/archive/archive-audit.ts'
import { type AuditArchive, openAuditArchive } from '#audit/archive/audit-file.ts'
import type { AuditRow } from '#audit/audit-types.ts'
import {
  archivedMonths,
  archiveMonth,
  archiveOldMonths,
  type ArchiveStep,
  type Archiving,
  type MonthTable,
  restoreMonth,
} from '#files/month-archive.ts'
import { operator } from '../identity/kit.ts'
import { endAll, run } from '../program/service.ts'
import { startTestNode, type TestNode } from '../support/node.ts'
import { runs } from '../support/runs.ts'
import { openS3 } from '../support/s3.ts'

const folder = mkdtempSync(join(tmpdir(), 'mintmark-audit-archive-'))
const KEEP_MONTHS = 2
/** Entries of a year: in past months and in the current one. */
const DAYS = 365
const ENTRIES = 600

let node: TestNode
let files: AuditArchive
let table: MonthTable
let archiving: Archiving

const ACTORS = ['operator:Ayşe#3', 'account:12', 'system', 'rule:7'] as const
const SUBJECTS = ['listing', 'account', 'import'] as const
const ACTIONS = ['listing.approve', 'account.update', 'import.start'] as const

beforeAll(async () => {
  node = await startTestNode({ env: { ARCHIVE_DIR: folder } })
  const now = node.clock.now()
  files = openAuditArchive(node.config)
  table = monthsOfAudit(files)
  archiving = { db: node.db, now }
  const entries = Array.from({ length: ENTRIES }, (_, i) => ({
    at: new Date(now.getTime() - DAYS * DAY_MS * (1 - i / ENTRIES)),
    actor: ACTORS[i % ACTORS.length]!,
    action: ACTIONS[i % ACTIONS.length]!,
    subject_type: SUBJECTS[i % SUBJECTS.length]!,
    subject_id: i % 7 === 0 ? 'weekly "dump" \\ ğüş' : String(i % 40),
    before: i % 5 === 0 ? null : JSON.stringify({ price: `${i}.10`, tags: ['a\\b', null, { deep: [i, 1.5, true] }] }),
    after: i % 3 === 0 ? null : JSON.stringify({ 'ö "quoted"': '\t', n: i }),
    request_id: i % 2 === 0 ? null : `request ${i}`,
  }))
  // Inserted before the node's own entries, as if they had been written at their times.
  await sql`
    insert into audit_log (id, at, actor, action, subject_type, subject_id, before, after, request_id) overriding system value
    select * from unnest(${entries.map((_, i) => i - 10_000)}::int8[], ${entries.map(({ at }) => at)}::timestamptz[],
      ${entries.map(({ actor }) => actor)}::text[], ${entries.map(({ action }) => action)}::text[],
      ${entries.map((entry) => entry.subject_type)}::text[], ${entries.map((entry) => entry.subject_id)}::text[],
      ${entries.map(({ before }) => before)}::jsonb[], ${entries.map(({ after }) => after)}::jsonb[],
      ${entries.map((entry) => entry.request_id)}::text[])`.execute(node.db.kysely)
})
afterEach(async () => {
  for (const { month, file } of await archivedMonths('audit_archives', node.db.kysely)) if (file !== null) await restoreMonth(table, node.db, month)
  // So that the next test can archive them again.
  await node.db.kysely.deleteFrom('audit_archives').execute()
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true })
})
afterAll(async () => {
  await node.close()
  await endAll()
  rmSync(folder, { recursive: true, force: true })
})

async function list(query: Record<string, string | number> = {}) {
  const params = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]))
  const { status, body } = await operator<AuditRow[]>(node, 'GET', `/audit?${params}`)
  expect(status, JSON.stringify(body)).toBe(200)
  return { data: body.data, pagination: body.pagination }
}

/** All pages of the whole log. */
async function everything(): Promise<AuditRow[]> {
  const rows: AuditRow[] = []
  for (let page = 1; ; page++) {
    const { data, pagination } = await list({ page, per_page: 100 })
    rows.push(...data)
    if (!pagination!.has_more) return rows
  }
}

const inDatabase = async () => (await node.db.kysely.selectFrom('audit_log').select('id').orderBy('id').execute()).map(({ id }) => id)
const time = () =>
  fc.integer({ min: -5, max: DAYS + 5 }).map((days) => new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS - days * DAY_MS).toISOString())
const query = fc.record(
  {
    actor: fc.constantFrom(...ACTORS, 'nobody'),
    action: fc.constantFrom(...ACTIONS),
    subject_type: fc.constantFrom(...SUBJECTS),
    subject_id: fc.constantFrom('3', '17', 'weekly "dump" \\ ğüş'),
    from: time(),
    to: time(),
    sort_by: fc.constant('at'),
    sort_order: fc.constantFrom('asc', 'desc'),
    page: fc.integer({ min: 1, max: 30 }),
    per_page: fc.constantFrom(1, 7, 20, 100),
  },
  { requiredKeys: [] },
)

describe('an archived audit log', () => {
  test('is listed as before, and restored exactly', async () => {
    const before = await everything()
    const ids = await inDatabase()
    await fc.assert(
      fc.asyncProperty(fc.array(query, { minLength: 1, maxLength: 8 }), fc.nat({ max: 9 }), async (queries, restored) => {
        const expected = await Promise.all(queries.map(list))
        const archived = await archiveOldMonths(table, archiving, KEEP_MONTHS)
        expect(archived.length).toBeGreaterThan(8)
        expect((await inDatabase()).length).toBeLessThan(ids.length / 2)
        expect(await Promise.all(queries.map(list))).toEqual(expected)
        // A month that is in the database, between archived months.
        await restoreMonth(table, node.db, archived[restored % archived.length]!.month)
        expect(await Promise.all(queries.map(list))).toEqual(expected)
        expect(await everything()).toEqual(before)
        for (const { month, file } of await archivedMonths('audit_archives', node.db.kysely))
          if (file !== null) await restoreMonth(table, node.db, month)
        expect(await inDatabase()).toEqual(ids)
        await node.db.kysely.deleteFrom('audit_archives').execute()
      }),
      { numRuns: runs(12) },
    )
  })

  test.each<ArchiveStep>(['written', 'stored', 'verified', 'recorded', 'emptied'])('is complete if the process stops once it is %s', async (last) => {
    const before = await everything()
    const onStep = (step: ArchiveStep) => {
      if (step === last) throw new Error('stopped')
    }
    await expect(archiveOldMonths(table, { ...archiving, onStep }, KEEP_MONTHS)).rejects.toThrow('stopped')
    expect(await everything()).toEqual(before)
    await archiveOldMonths(table, archiving, KEEP_MONTHS)
    expect(await everything()).toEqual(before)
    expect((await node.db.kysely.selectFrom('audit_archives').select('emptied').execute()).every(({ emptied }) => emptied)).toBe(true)
  })

  test('is listed completely while months move', { tags: 'slow' }, async () => {
    const { total } = (await list()).pagination!
    let moving = true
    const moved = archiveOldMonths(table, archiving, KEEP_MONTHS)
      .then(async (months) => {
        for (const { month } of months) await restoreMonth(table, node.db, month)
      })
      .finally(() => (moving = false))
    const totals = new Set<number>()
    while (moving) totals.add((await list({ subject_type: 'listing' })).pagination!.total)
    await moved
    expect([...totals]).toEqual([(await list({ subject_type: 'listing' })).pagination!.total])
    expect((await list()).pagination!.total).toBe(total)
  })

  test('answers 503 while its files are missing, and only if it needs them', async () => {
    const [first] = await archiveOldMonths(table, archiving, KEEP_MONTHS)
    const [file, elsewhere] = [join(folder, first!.file!), join(folder, 'elsewhere')]
    renameSync(file, elsewhere)
    const gone = await operator(node, 'GET', '/audit?subject_type=listing')
    expect([gone.status, gone.body.error?.code]).toEqual([503, 'UNAVAILABLE'])
    expect(gone.headers.get('retry-after')).toBe('30')
    const recent = new Date(Date.now() - 20 * DAY_MS).toISOString()
    expect((await list({ from: recent })).data.length).toBeGreaterThan(0)
    await expect(restoreMonth(table, node.db, first!.month)).rejects.toThrow('not found')
    renameSync(elsewhere, file)
    expect((await list({ subject_type: 'listing' })).data.length).toBeGreaterThan(0)
  })

  test('rejects damaged files, recent months and two processes at once', async () => {
    const [first, second] = await archiveOldMonths(table, archiving, KEEP_MONTHS)
    const file = join(folder, second!.file!)
    const content = readFileSync(file)
    truncateSync(file, 500)
    await expect(restoreMonth(table, node.db, second!.month)).rejects.toThrow()
    expect(await archivedMonths('audit_archives', node.db.kysely)).toContainEqual(expect.objectContaining(second!))
    writeFileSync(file, content)
    await expect(archiveMonth(table, archiving, archiving.now.toISOString().slice(0, 7))).rejects.toThrow('too recent')
    expect(await archiveMonth(table, archiving, first!.month)).toBeNull()
    await restoreMonth(table, node.db, first!.month)
    const meanwhile: unknown[] = []
    const onStep = async (step: ArchiveStep) => {
      if (step !== 'written') return
      meanwhile.push(
        await archiveMonth(table, archiving, first!.month).catch((error: Error) => error.message),
        await archiveOldMonths(table, archiving, KEEP_MONTHS),
      )
    }
    expect(await archiveMonth(table, { ...archiving, onStep }, first!.month)).toMatchObject({ month: first!.month })
    expect(meanwhile).toEqual(['Another process is archiving; try again later', []])
  })
})

test('commands archive, list and restore months of the audit log', { tags: 'slow' }, async () => {
  const before = await everything()
  const env = { DATABASE_URL: node.databaseUrl, ARCHIVE_DIR: folder, AUDIT_ARCHIVE_MONTHS: '6', SECRET_KEY: 'secret key of all the tests' }
  const ran = await run(['archive', 'run', '--audit', '--json'], env)
  expect(ran.said).toEqual([])
  const months = JSON.parse(ran.out) as { month: string; file: string }[]
  expect(months.length).toBeGreaterThan(3)
  const listed = (await run(['archive', 'list', '--audit'], env)).out
  expect(listed).toContain('ENTRIES')
  expect(listed).toContain(`The files are in ${folder}`)
  expect(await everything()).toEqual(before)
  const { month, file } = months[0]!
  expect((await run(['archive', 'restore', '--audit', month], env)).out).toMatch(/^Restored \d+ entries of /)
  expect(existsSync(join(folder, file))).toBe(true)
  expect((await run(['archive', 'run', '--audit'], env)).out.trim()).toBe('Nothing to archive')
  expect((await run(['archive', 'run', '--audit', month], env)).out).toContain(month)
  expect(await everything()).toEqual(before)
  expect((await run(['archive', 'restore', '--audit', '1999-01'], env)).said.join()).toContain('1999-01 is not in the archive')
  expect((await run(['archive', 'run', '--audit'], { ...env, AUDIT_ARCHIVE_MONTHS: '1' })).said.join()).toContain('AUDIT_ARCHIVE_MONTHS')
})

test('months in a bucket are read in parts', { tags: 'slow' }, async () => {
  const s3 = await openS3()
  try {
    const files = openAuditArchive({
      archiveDir: join(folder, 'staging'),
      dumpsS3: {
        url: s3.settings.DUMPS_S3_URL,
        accessKey: s3.settings.DUMPS_S3_ACCESS_KEY,
        secretKey: s3.settings.DUMPS_S3_SECRET_KEY,
        region: 'us-east-1',
      },
    })
    const inBucket = monthsOfAudit(files)
    const ids = await inDatabase()
    // The first month may have only a day of entries.
    const [, second] = await archiveOldMonths(inBucket, archiving, KEEP_MONTHS)
    const file = await files.open(second!.file!)
    expect(file.rows).toBe(second!.rows)
    const found = await file.at(await file.matching({ actor: 'system' }))
    expect(new Set(found.map(({ actor }) => actor))).toEqual(new Set(['system']))
    for (const { month } of await archivedMonths('audit_archives', node.db.kysely)) await restoreMonth(inBucket, node.db, month)
    expect(await inDatabase()).toEqual(ids)
  } finally {
    await s3.close()
  }
})

// Last, because it deletes entries for good.
test('retention deletes old entries and whole archived months with their files', async () => {
  const months = await archiveOldMonths(table, archiving, KEEP_MONTHS)
  const restored = months.at(-1)!
  await restoreMonth(table, node.db, restored.month)
  await forgetOldAudit({ db: node.db, files }, 0, archiving.now)
  expect((await everything()).length).toBeGreaterThanOrEqual(ENTRIES)
  const keepFrom = new Date(archiving.now.getTime() - 120 * DAY_MS).toISOString()
  await forgetOldAudit({ db: node.db, files }, 120, archiving.now)
  const left = await everything()
  expect(left.length).toBeGreaterThan(100)
  expect(left.every(({ at }) => at.slice(0, 7) >= keepFrom.slice(0, 7))).toBe(true)
  const laterFiles = months.filter(({ month }) => month >= keepFrom.slice(0, 7)).map(({ file }) => file)
  expect(readdirSync(folder).sort()).toEqual(laterFiles.sort())
})
