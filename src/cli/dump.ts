// The command `dump`: creates a dump of the catalogue now.
import type { Command } from 'commander'
import { type DumpProgress, makeDump } from '#dumps/make-dump.ts'
import { openDumpStore } from '#dumps/open-store.ts'
import { openPriceArchive } from '#prices/archive/price-archive.ts'
import { addCommand, columns, type OpenCli, type OutputOptions, type Print, printResult } from './terminal/command.ts'

export function register(program: Command, open: OpenCli, print: Print): void {
  addCommand(program, 'dump', 'create a dump of the catalogue: NDJSON and Parquet files that clients can download').action((options: OutputOptions) =>
    open(async (ctx) => {
      const { config, db, now } = ctx
      const store = openDumpStore(config)
      const toPeople = process.stderr.isTTY
      const onProgress = ({ tables, of, rows }: DumpProgress) => toPeople && process.stderr.write(`\r${rows} rows, ${tables} of ${of} tables\x1b[K`)
      const dump = await makeDump({ db, now, store, archive: openPriceArchive(config), currencies: config.sourceCurrencies, onProgress })
      if (toPeople) process.stderr.write('\r\x1b[K')
      const files = dump.files.map(({ name, rows, bytes }) => [name, rows, bytes])
      printResult(print, options, dump, `${columns(['FILE', 'ROWS', 'BYTES'], files)}\nDump created as of ${dump.as_of} in ${store.place}`)
    }),
  )
}
