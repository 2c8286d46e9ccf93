// Exports a paged list as CSV: all rows from one database snapshot, using the same verb and schema as JSON.
import { Readable } from 'node:stream'
import { startTimer, stopTimer } from '#core/process/time-and-chance.ts'
import { csvLine } from '#core/files/csv.ts'
import type { Shape } from '#core/input.ts'
import type { Pagination } from '#core/paging.ts'
import { Turns } from '#core/concurrency/turns.ts'
import { type HasViewer, mayCall } from '#core/verb.ts'
import type { Snapshot } from '#db/snapshot.ts'
import type { Answer } from './envelope.ts'
import type { Response } from './response.ts'
import type { Route } from './route.ts'

/** Opens a snapshot for a verb's context. */
export type OpenSnapshot<Ctx> = (ctx: Ctx) => Promise<Snapshot>

/** Rows per read. */
const BATCH = 2_000
/** A client that reads nothing for this long loses the rest, because the snapshot keeps old row versions in the database. */
const STALLED_MS = 60_000

/** Maximum concurrent exports; others wait. Each occupies a connection of the pool, which all other work needs, too. */
const exports = new Turns(4)

/** Whether a route returns a list that is also available as CSV. */
export function isList<Ctx extends HasViewer>(route: Route<Ctx>): boolean {
  return route.method === 'GET' && route.paged === true && route.csv === undefined && (route.data as Shape | undefined)?.type === 'array'
}

/** The list as CSV. @throws ServiceError, as its verb does, before anything is sent */
export async function listAsCsv<Ctx extends HasViewer>(
  route: Route<Ctx>,
  ctx: Ctx,
  input: object,
  inPath: readonly string[],
  openSnapshot: OpenSnapshot<Ctx>,
): Promise<Response> {
  const { verb } = route
  mayCall(ctx.viewer, verb)
  const asked = verb.check(input, inPath) as object
  const { db, close } = await snapshotInTurn(ctx, openSnapshot)
  const read = async (page: number): Promise<{ rows: object[]; more: boolean }> => {
    const answer = route.answer((await verb.run({ ...ctx, db }, { ...asked, page, per_page: BATCH })) as never) as Answer
    return { rows: answer.data as object[], more: (answer.pagination as Pagination).has_more }
  }
  let first: Awaited<ReturnType<typeof read>>
  try {
    first = await read(1)
  } catch (error) {
    await close()
    throw error
  }
  const columns = columnsOf(rowShape(route), '')
  const textOf = (rows: object[]) =>
    rows
      .flatMap((row) => entriesOf(row, route.csvEntries))
      .map((row) => csvLine(columns.map(({ read }) => read(row))))
      .join('')
  const stalled = () => startTimer(() => body.destroy(new Error('The client stopped reading the CSV')), STALLED_MS)
  let timer = stalled()
  async function* lines(): AsyncIterable<string> {
    yield csvLine(columns.map(({ name }) => name)) + textOf(first.rows)
    for (let page = 2, { more } = first; more; page++) {
      stopTimer(timer)
      const next = await read(page)
      timer = stalled()
      yield textOf(next.rows)
      more = next.more
    }
  }
  const body = Readable.from(lines(), { highWaterMark: 1 })
  body.once('close', () => {
    stopTimer(timer)
    close().catch(() => {})
  })
  const name = route.path.split('/').findLast((part) => part !== '' && !part.startsWith(':'))
  return { status: 200, headers: ['content-type', 'text/csv; charset=utf-8', 'content-disposition', `attachment; filename="${name}.csv"`], body }
}

/** Opens a snapshot as soon as few enough are open; closing it lets the next export start. */
async function snapshotInTurn<Ctx>(ctx: Ctx, openSnapshot: OpenSnapshot<Ctx>): Promise<Snapshot> {
  await exports.take()
  try {
    const { db, close } = await openSnapshot(ctx)
    return { db, close: () => close().finally(() => exports.end()) }
  } catch (error) {
    exports.end()
    throw error
  }
}

/** The schema of a CSV row: the list's row, with a single entry in place of the field `csvEntries` if the route has one. */
function rowShape<Ctx extends HasViewer>({ data, csvEntries }: Route<Ctx>): Shape {
  const row = (data as Shape).items!
  const entries = csvEntries && row.properties![csvEntries]!.items!
  return entries ? { ...row, properties: { ...row.properties, [csvEntries]: entries } } : row
}

/** One row for each entry of the field. */
function entriesOf(row: object, field: string | undefined): object[] {
  if (field === undefined) return [row]
  return ((row as Record<string, unknown>)[field] as object[]).map((entry) => ({ ...row, [field]: entry }))
}

interface Column {
  name: string
  read: (row: object) => string | number | null
}

/** A column for each value; nested objects as `item.name`, lists and free objects as JSON in one cell. */
function columnsOf({ properties = {} }: Shape, before: string, holderOf: (row: object) => unknown = (row) => row): Column[] {
  return Object.entries(properties).flatMap(([field, shape]) => {
    const name = `${before}${field}`
    const value = (row: object) => (holderOf(row) as Record<string, unknown> | null | undefined)?.[field]
    const within = [shape, ...(shape.anyOf ?? [])].filter((one) => one.properties)
    if (within.length === 1 && within[0]!.type === 'object') return columnsOf(within[0]!, `${name}.`, value)
    return [{ name, read: (row: object) => cellOf(value(row)) }]
  })
}

function cellOf(value: unknown): string | number | null {
  if (value === undefined || value === null) return null
  if (typeof value === 'string' || typeof value === 'number') return value
  return JSON.stringify(value)
}
