// Shared by all commands: their context, parsing of arguments, and human-readable or JSON output.
import { type Command, InvalidArgumentError } from 'commander'
import type { Page } from '#core/paging.ts'
import type { Db } from '#db/schema.ts'
import type { HasPrecondition } from '#core/precondition.ts'
import type { PriceWriteCtx } from '#prices/records/price-types.ts'
import type { Config } from '../../config.ts'

/** Runs large reads on the replica, if there is one. */
export type ReplicaReader = <T>(read: (db: Db) => Promise<T>) => Promise<T>

/** Opens the database for the duration of a command, with the command line as the operator. */
/** The context of commands; its settings include the changes of operators. */
export interface CliCtx extends PriceWriteCtx, HasPrecondition {
  config: Config
}

export type OpenCli = (run: (ctx: CliCtx, atLength: ReplicaReader) => Promise<void>) => Promise<void>

/** Writes a line on standard output. */
export type Print = (line: string) => void

/** A module that adds its commands to the program. */
export interface CommandModule {
  register: (program: Command, open: OpenCli, print: Print) => void
}

export interface OutputOptions {
  json?: boolean
}

/** Adds a command that prints text or, with `--json`, one JSON value. */
export function addCommand(parent: Command, name: string, description: string): Command {
  return parent.command(name).description(description).option('--json', 'print one JSON value')
}

/** The result as JSON if requested, else as human-readable text. */
export function printResult(print: Print, { json }: OutputOptions, value: unknown, text: string): void {
  print(json ? JSON.stringify(value) : text)
}

/** A whole number from 0. */
export function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('Must be a whole number.')
  return Number(text)
}

/** A whole number from 1, such as an id. */
export function positive(text: string): number {
  const value = wholeNumber(text)
  if (value < 1) throw new InvalidArgumentError('Must be above 0.')
  return value
}

/** Ends with exit code 2. */
export function wrongUsage(command: Command, message: string): never {
  return command.error(`error: ${message}`, { exitCode: 2, code: 'mintmark.usage' })
}

/** Maximum rejected rows that are printed; the JSON output has all. */
const SHOWN_ROWS = 20

/** Rejected rows, and how many others there are. */
export function rejectedLines(rows: readonly string[]): string[] {
  const more = rows.length > SHOWN_ROWS ? [`  and ${rows.length - SHOWN_ROWS} more (--json lists them)`] : []
  return [...rows.slice(0, SHOWN_ROWS).map((row) => `  ${row}`), ...more]
}

/** The rows of all pages. */
export async function allRows<Row>(fetchPage: (paging: { page: number; per_page: number }) => Promise<Page<Row>>): Promise<Row[]> {
  const rows: Row[] = []
  for (let page = 1; ; page++) {
    const { rows: more, pagination } = await fetchPage({ page, per_page: 100 })
    rows.push(...more)
    if (!pagination.has_more) return rows
  }
}

/** Lines with aligned columns under their titles. */
export function columns(titles: string[], rows: (string | number | null)[][]): string {
  const cells = [titles, ...rows.map((row) => row.map((cell) => String(cell ?? '-')))]
  const widths = titles.map((_title, i) => Math.max(...cells.map((row) => row[i]!.length)))
  return cells
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
