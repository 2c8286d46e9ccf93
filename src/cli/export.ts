// The command `export`: the catalogue with its current prices as mintmark-ndjson, which `import` reads back without loss.
import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { type Command, Option } from 'commander'
import { exportCatalogue, type ExportFilter } from '#catalogue/export.ts'
import { type Market, MARKETS } from '#core/markets.ts'
import type { OpenCli } from './terminal/command.ts'

interface ExportOptions {
  market?: Market
  game?: string
  allPrices?: boolean
}

export function register(program: Command, open: OpenCli): void {
  program
    .command('export')
    .description('export categories, items and current prices as mintmark-ndjson')
    .argument('[file]', 'file to write, .gz is compressed; default: standard output (-)', '-')
    .addOption(new Option('--market <market>', 'only data from this market').choices(MARKETS))
    .option('--game <game>', 'only this game')
    .option('--all-prices', 'also prices of sources that may not be passed on (see `use` of a source), for a copy of your own')
    .action((file: string, options: ExportOptions) =>
      open(async (_ctx, atLength) => {
        const filter: ExportFilter = options
        await atLength((db) => writeText(file, exportCatalogue(db, filter)))
      }),
    )
}

/** Writes to standard output for `-`. A named file appears only when complete, and is compressed for `.gz`. */
export async function writeText(file: string, text: AsyncIterable<string>): Promise<void> {
  if (file === '-') return pipeline(text, process.stdout, { end: false })
  const partial = `${file}.partial`
  try {
    const target = createWriteStream(partial)
    await (file.endsWith('.gz') ? pipeline(text, createGzip(), target) : pipeline(text, target))
    await rename(partial, file)
  } catch (error) {
    await rm(partial, { force: true })
    throw new Error(`${file} cannot be written: ${(error as Error).message}`, { cause: error })
  }
}
