// The commands `archive list`, `archive run` and `archive restore`: months of the price history or the audit log stored as Parquet files.
import { type Command, InvalidArgumentError } from 'commander'
import { monthsOfAudit } from '#audit/archive/archive-audit.ts'
import { openAuditArchive } from '#audit/archive/audit-file.ts'
import type { Db } from '#db/schema.ts'
import { type ArchivedMonth, archivedMonths, archiveMonth, archiveOldMonths, type Archiving, restoreMonth } from '#files/month-archive.ts'
import { monthsOfPrices } from '#prices/archive/archive-months.ts'
import { openPriceArchive } from '#prices/archive/price-archive.ts'
import { readConfig } from '../config.ts'
import { addCommand, columns, type OpenCli, type OutputOptions, type Print, printResult } from './terminal/command.ts'

interface ArchiveOptions extends OutputOptions {
  audit?: boolean
}

export function register(program: Command, open: OpenCli, print: Print): void {
  const archive = program.command('archive').description('months of the price history and the audit log that are kept as Parquet files')
  const add = (name: string, description: string) =>
    addCommand(archive, name, description).option('--audit', 'the audit log instead of the price history')

  add('list', 'months in the archive, and months restored from it').action((options: ArchiveOptions) =>
    open(async ({ db, now }) => {
      const { table } = archiveOf(db, now(), options)
      const months = (await archivedMonths(table.archives, db.kysely)).map(({ month, file, rows, archived_at }) => ({
        month,
        file,
        rows,
        archived_at,
      }))
      printResult(print, options, months, `${printed(table.rows, months)}\nThe files are in ${table.files.store.place}`)
    }),
  )

  add('run', 'archive the months that PRICE_ARCHIVE_MONTHS or AUDIT_ARCHIVE_MONTHS no longer keeps in the database, or one month')
    .argument('[month]', 'such as 2024-05; also archives a month that was restored', month)
    .action((month: string | undefined, options: ArchiveOptions) =>
      open(async ({ db, now }) => {
        const { table, archiving, keepMonths, setting } = archiveOf(db, now(), options)
        if (month === undefined && keepMonths === 0) throw new Error(`${setting} is 0: name a month, or set it`)
        const months =
          month === undefined
            ? await archiveOldMonths(table, archiving, keepMonths)
            : [await archiveMonth(table, archiving, month)].filter((one) => one !== null)
        printResult(print, options, months, months.length > 0 ? printed(table.rows, months) : 'Nothing to archive')
      }),
    )

  add('restore', 'put an archived month back into the database, where it stays until `archive run <month>`')
    .argument('<month>', 'such as 2024-05', month)
    .action((month: string, options: ArchiveOptions) =>
      open(async ({ db, now }) => {
        const { table } = archiveOf(db, now(), options)
        const restored = await restoreMonth(table, db, month)
        printResult(print, options, restored, `Restored ${restored.rows} ${table.rows} of ${month}`)
      }),
    )
}

function archiveOf(db: Db, now: Date, { audit = false }: ArchiveOptions) {
  const config = readConfig()
  const onStep = (step: string, month: string) => {
    if (process.stderr.isTTY) process.stderr.write(`${month} ${step}\n`)
  }
  const table = audit ? monthsOfAudit(openAuditArchive(config)) : monthsOfPrices(openPriceArchive(config).files)
  const archiving: Archiving = { db, now, onStep }
  return audit
    ? { table, archiving, setting: 'AUDIT_ARCHIVE_MONTHS', keepMonths: config.auditArchiveMonths }
    : { table, archiving, setting: 'PRICE_ARCHIVE_MONTHS', keepMonths: config.priceArchiveMonths }
}

function printed(name: string, months: readonly ArchivedMonth[]): string {
  const lines = months.map(({ month, rows, file, archived_at }) => [month, rows, file ?? 'restored', archived_at])
  return columns(['MONTH', name.toUpperCase(), 'FILE', 'ARCHIVED'], lines)
}

function month(text: string): string {
  if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(text)) throw new InvalidArgumentError('It must be a month such as 2024-05.')
  return text
}
