// Lists the audit log: who changed what and when, newest first, from the database and the archive.
import { sql } from 'kysely'
import { filter, PeriodFields, periodOf } from '#core/fields.ts'
import { listVerb, type Range, type Rows } from '#core/paging.ts'
import { monthAfter, monthStart } from '#core/time.ts'
import { jsonReady } from '#db/json-ready.ts'
import { countOf } from '#db/page.ts'
import { openEntries } from '#db/personal/audit-entries.ts'
import { PersonKeys } from '#db/personal/person-keys.ts'
import type { Queryable } from '#db/schema.ts'
import { namesOf, orderBy, type Sorting, type SortInput, sortParams } from '#db/sorting.ts'
import { fromArchive, readWithArchive } from '#files/archive-reads.ts'
import type { AuditArchive, AuditFilter } from './archive/audit-file.ts'
import type { AuditCtx, AuditRow } from './audit-types.ts'

const COLUMNS = ['id', 'at', 'actor', 'action', 'subject_type', 'subject_id', 'before', 'after', 'request_id'] as const

const id = sql.ref('id')
const SORTING = { by: { at: id }, id, usual: { by: id, direction: 'desc' } } satisfies Sorting<string>
type Sort = SortInput<keyof typeof SORTING.by>

export const listAudit = listVerb(
  {
    name: 'listAudit',
    needs: 'operator',
    filters: {
      actor: filter('Such as `operator:bootstrap`'),
      action: filter('Such as `account.create`'),
      subject_type: filter('Such as `account`'),
      subject_id: filter('Id of the changed object'),
      ...PeriodFields,
      ...sortParams(namesOf(SORTING)),
    },
  },
  async (ctx: AuditCtx, { from, to, sort_by, sort_order, ...equal }, range) => {
    const period = periodOf({ from, to })
    const criteria: AuditFilter = { ...equal, ...(period.from && { from: period.from }), ...(period.to && { to: period.to }) }
    return readAudit(ctx, { criteria, sort: { sort_by, sort_order }, ...range })
  },
)

interface AuditQuery extends Range {
  criteria: AuditFilter
  sort: Sort
}

function readAudit({ db, auditArchive }: AuditCtx, query: AuditQuery): Promise<Rows<AuditRow>> {
  return readWithArchive(
    () => archivedFiles(db.kysely),
    (files) => pageOf(spansOf(db.kysely, auditArchive, files, query), query),
  )
}

interface ArchivedFile {
  month: string
  file: string
}

/** Oldest month first. */
async function archivedFiles(on: Queryable): Promise<ArchivedFile[]> {
  const files = await on.selectFrom('audit_archives').select(['month', 'file']).where('file', 'is not', null).orderBy('month').execute()
  return files as ArchivedFile[]
}

/** A period whose entries are all in one place. */
interface Span {
  count: () => Promise<number>
  /** entries in the order of the query */
  read: (limit: number, offset: number) => Promise<AuditRow[]>
}

/** The spans of the requested period in the order of the query. */
function spansOf(on: Queryable, archive: AuditArchive, files: readonly ArchivedFile[], { criteria, sort }: AuditQuery): Span[] {
  const spans: Span[] = []
  const [from, to] = [criteria.from ?? null, criteria.to ?? null]
  const add = (start: Date | null, end: Date | null, span: (within: Pick<AuditFilter, 'from' | 'to'>) => Span) => {
    const [later, earlier] = [
      start && from ? new Date(Math.max(+start, +from)) : (start ?? from),
      end && to ? new Date(Math.min(+end, +to)) : (end ?? to),
    ]
    if (!later || !earlier || later < earlier) spans.push(span({ ...(later && { from: later }), ...(earlier && { to: earlier }) }))
  }
  const inDatabase = (within: Pick<AuditFilter, 'from' | 'to'>) => databaseSpan(on, { ...criteria, ...within }, sort)
  let start: Date | null = null
  for (const { month, file } of files) {
    const [first, next] = [monthStart(month), monthStart(monthAfter(month))]
    add(start, first, inDatabase)
    // Drop bounds outside of the month: all of its entries meet them, so their times need not be read.
    const { from: later, to: earlier, ...equal } = criteria
    const within = { ...equal, ...(later && later > first && { from: later }), ...(earlier && earlier < next && { to: earlier }) }
    add(first, next, () => fileSpan(on, archive, file, within, sort))
    start = next
  }
  add(start, null, inDatabase)
  return isAscending(sort) ? spans : spans.reverse()
}

async function pageOf(spans: readonly Span[], { limit, offset }: AuditQuery): Promise<Rows<AuditRow>> {
  const counts = await Promise.all(spans.map((span) => span.count()))
  const rows: AuditRow[] = []
  let skip = offset
  for (const [i, span] of spans.entries()) {
    if (rows.length < limit && skip < counts[i]!) rows.push(...(await span.read(limit - rows.length, skip)))
    skip = Math.max(0, skip - counts[i]!)
  }
  return { rows, total: counts.reduce((sum, count) => sum + count, 0) }
}

function databaseSpan(on: Queryable, { from, to, ...equal }: AuditFilter, sort: Sort): Span {
  let matching = on.selectFrom('audit_log').where((e) => e.and(equal))
  if (from) matching = matching.where('at', '>=', from)
  if (to) matching = matching.where('at', '<', to)
  return {
    count: () => countOf(matching),
    read: async (limit, offset) =>
      (await matching.select(COLUMNS).orderBy(orderBy(SORTING, sort)).limit(limit).offset(offset).execute()).map(jsonReady),
  }
}

/** @throws UNAVAILABLE if the archive cannot be read */
function fileSpan(on: Queryable, archive: AuditArchive, name: string, criteria: AuditFilter, sort: Sort): Span {
  const isWhole = Object.keys(criteria).length === 0
  const opened = fromArchive('audit_archive', archive.open(name))
  const positions = fromArchive(
    'audit_archive',
    opened.then(async (file) => (isWhole ? null : file.matching(criteria))),
  )
  return {
    count: async () => (await positions)?.length ?? (await opened).rows,
    async read(limit, offset) {
      const file = await opened
      const found = await positions
      const count = found?.length ?? file.rows
      const chosen = Array.from({ length: Math.min(limit, count - offset) }, (_, i) => (isAscending(sort) ? offset + i : count - 1 - offset - i))
      const stored = await fromArchive('audit_archive', file.at(chosen.map((i) => found?.[i] ?? i)))
      const entries = await openEntries(new PersonKeys(on), stored)
      return entries.map(({ before, after, ...entry }) => jsonReady({ ...entry, before: parsed(before), after: parsed(after) }))
    },
  }
}

function isAscending({ sort_by: by, sort_order: order }: Sort): boolean {
  return by !== undefined && order !== 'desc'
}

function parsed(json: string | null): object | null {
  return json === null ? null : (JSON.parse(json) as object)
}
