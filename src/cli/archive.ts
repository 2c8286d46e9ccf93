// The commands `archive list`, `archive run` and `archive restore`: months of the price history that are kept as Parquet files.
import { type Command, InvalidArgumentError } from 'commander'
import { archivedMonths, archiveMonth, archiveOldMonths, type ArchiveStep, type PriceMonth, restoreMonth } from '#prices/archive/archive-months.ts'
import { openPriceArchive } from '#prices/archive/open-archive.ts'
import { readConfig } from '../config.ts'
import { addCommand, columns, type OpenCli, type OutputOptions, type Print, printResult } from './command.ts'

export function register(program: Command, open: OpenCli, print: Print): void {
  const archive = program.command('archive').description('months of the price history that are kept as Parquet files')

  addCommand(archive, 'list', 'months in the archive, and months restored from it').action((options: OutputOptions) =>
    open(async ({ db }) => {
      const months = (await archivedMonths(db.kysely)).map(({ month, file, rows, archived_at }) => ({ month, file, rows, archived_at }))
      printResult(print, options, months, `${table(months)}\nThe files are in ${openPriceArchive(readConfig()).files.place}`)
    }),
  )

  addCommand(archive, 'run', 'archive the months that PRICE_ARCHIVE_MONTHS no longer keeps in the database, or one month')
    .argument('[month]', 'such as 2024-05; also archives a month that was restored', month)
    .action((month: string | undefined, options: OutputOptions) =>
      open(async ({ db, now }) => {
        const config = readConfig()
        const onStep = (step: ArchiveStep, month: string) => {
          if (process.stderr.isTTY) process.stderr.write(`${month} ${step}\n`)
        }
        const archiving = { db, archive: openPriceArchive(config), now: now(), onStep }
        if (month === undefined && config.priceArchiveMonths === 0) throw new Error('PRICE_ARCHIVE_MONTHS is 0: name a month, or set it')
        const one = month === undefined ? null : await archiveMonth(archiving, month)
        const months = month === undefined ? await archiveOldMonths(archiving, config.priceArchiveMonths) : one ? [one] : []
        printResult(print, options, months, months.length > 0 ? table(months) : 'Nothing to archive')
      }),
    )

  addCommand(archive, 'restore', 'put an archived month back into the database, where it stays until `archive run <month>`')
    .argument('<month>', 'such as 2024-05', month)
    .action((month: string, options: OutputOptions) =>
      open(async ({ db }) => {
        const restored = await restoreMonth({ db, archive: openPriceArchive(readConfig()) }, month)
        printResult(print, options, restored, `Restored ${restored.rows} prices of ${month}`)
      }),
    )
}

function table(months: readonly PriceMonth[]): string {
  const lines = months.map(({ month, rows, file, archived_at }) => [month, rows, file ?? 'restored', archived_at])
  return columns(['MONTH', 'PRICES', 'FILE', 'ARCHIVED'], lines)
}

function month(text: string): string {
  if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(text)) throw new InvalidArgumentError('It must be a month such as 2024-05.')
  return text
}
