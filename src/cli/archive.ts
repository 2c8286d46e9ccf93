// The commands `archive list`, `archive run` and `archive restore`: months of the price history or the audit log stored as Parquet files.
import { type Command, InvalidArgumentError } from 'commander'
import { archiveAuditMonth, archivedAuditMonths, archiveOldAudit, restoreAuditMonth } from '#audit/archive/archive-audit.ts'
import { openAuditArchive } from '#audit/archive/open-audit-archive.ts'
import type { ArchivedMonth } from '#db/archiving.ts'
import type { Db } from '#db/schema.ts'
import { archivedMonths, archiveMonth, archiveOldMonths } from '#prices/archive/archive-months.ts'
import { restoreMonth } from '#prices/archive/restore-month.ts'
import { openPriceArchive } from '#prices/archive/open-archive.ts'
import { readConfig } from '../config.ts'
import { addCommand, columns, type OpenCli, type OutputOptions, type Print, printResult } from './terminal/command.ts'

/** The archive of a table, as the commands use it. */
interface Archive {
  /** name of its rows in the output */
  rows: string
  setting: 'PRICE_ARCHIVE_MONTHS' | 'AUDIT_ARCHIVE_MONTHS'
  keepMonths: number
  place: string
  list: () => Promise<ArchivedMonth[]>
  runOld: () => Promise<ArchivedMonth[]>
  run: (month: string) => Promise<ArchivedMonth | null>
  restore: (month: string) => Promise<ArchivedMonth>
}

interface ArchiveOptions extends OutputOptions {
  audit?: boolean
}

export function register(program: Command, open: OpenCli, print: Print): void {
  const archive = program.command('archive').description('months of the price history and the audit log that are kept as Parquet files')
  const add = (name: string, description: string) =>
    addCommand(archive, name, description).option('--audit', 'the audit log instead of the price history')

  add('list', 'months in the archive, and months restored from it').action((options: ArchiveOptions) =>
    open(async ({ db, now }) => {
      const { list, rows, place } = archiveOf(db, now(), options)
      const months = (await list()).map(({ month, file, rows, archived_at }) => ({ month, file, rows, archived_at }))
      printResult(print, options, months, `${table(rows, months)}\nThe files are in ${place}`)
    }),
  )

  add('run', 'archive the months that PRICE_ARCHIVE_MONTHS or AUDIT_ARCHIVE_MONTHS no longer keeps in the database, or one month')
    .argument('[month]', 'such as 2024-05; also archives a month that was restored', month)
    .action((month: string | undefined, options: ArchiveOptions) =>
      open(async ({ db, now }) => {
        const { keepMonths, setting, run, runOld, rows } = archiveOf(db, now(), options)
        if (month === undefined && keepMonths === 0) throw new Error(`${setting} is 0: name a month, or set it`)
        const one = month === undefined ? null : await run(month)
        const months = month === undefined ? await runOld() : one ? [one] : []
        printResult(print, options, months, months.length > 0 ? table(rows, months) : 'Nothing to archive')
      }),
    )

  add('restore', 'put an archived month back into the database, where it stays until `archive run <month>`')
    .argument('<month>', 'such as 2024-05', month)
    .action((month: string, options: ArchiveOptions) =>
      open(async ({ db, now }) => {
        const { restore, rows } = archiveOf(db, now(), options)
        const restored = await restore(month)
        printResult(print, options, restored, `Restored ${restored.rows} ${rows} of ${month}`)
      }),
    )
}

function archiveOf(db: Db, now: Date, { audit = false }: ArchiveOptions): Archive {
  const config = readConfig()
  const onStep = (step: string, month: string) => {
    if (process.stderr.isTTY) process.stderr.write(`${month} ${step}\n`)
  }
  if (audit) {
    const archiving = { db, archive: openAuditArchive(config), now, onStep }
    return {
      rows: 'entries',
      setting: 'AUDIT_ARCHIVE_MONTHS',
      keepMonths: config.auditArchiveMonths,
      place: archiving.archive.store.place,
      list: () => archivedAuditMonths(db.kysely),
      runOld: () => archiveOldAudit(archiving, config.auditArchiveMonths),
      run: (month) => archiveAuditMonth(archiving, month),
      restore: (month) => restoreAuditMonth(archiving, month),
    }
  }
  const archiving = { db, archive: openPriceArchive(config), now, onStep }
  return {
    rows: 'prices',
    setting: 'PRICE_ARCHIVE_MONTHS',
    keepMonths: config.priceArchiveMonths,
    place: archiving.archive.files.store.place,
    list: () => archivedMonths(db.kysely),
    runOld: () => archiveOldMonths(archiving, config.priceArchiveMonths),
    run: (month) => archiveMonth(archiving, month),
    restore: (month) => restoreMonth(archiving, month),
  }
}

function table(name: string, months: readonly ArchivedMonth[]): string {
  const lines = months.map(({ month, rows, file, archived_at }) => [month, rows, file ?? 'restored', archived_at])
  return columns(['MONTH', name.toUpperCase(), 'FILE', 'ARCHIVED'], lines)
}

function month(text: string): string {
  if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(text)) throw new InvalidArgumentError('It must be a month such as 2024-05.')
  return text
}
