// The command `mirror`: mirrors the catalogue of another Mintmark in a file.
import { type Command, Option } from 'commander'
import { CatalogueCopy } from '../mirror/copy.ts'
import { exportCopy } from '../mirror/export-copy.ts'
import { follow } from '../mirror/follow.ts'
import { addCommand, type OpenCli, type OutputOptions, type Print, printResult } from './terminal/command.ts'
import { writeText } from './export.ts'

interface MirrorOptions extends OutputOptions {
  key: string
  file: string
  once?: boolean
  export?: string
}

export function register(program: Command, _open: OpenCli, print: Print): void {
  addCommand(program, 'mirror', 'mirror the catalogue of another Mintmark in a SQLite file')
    .argument('<url>', 'URL of the service, such as https://cards.example')
    .addOption(new Option('--key <key>', 'API key for that service, Professional or above').env('MIRROR_KEY').makeOptionMandatory())
    .option('--file <file>', 'SQLite file to write', 'mirror.sqlite')
    .option('--once', 'exit once the copy is up to date instead of following changes')
    .option('--export <file>', 'with --once: also export the copy as mintmark-ndjson, for import; .gz is compressed; - for standard output')
    .action(async (address: string, { key, file, once = false, export: target, ...options }: MirrorOptions) => {
      const copy = new CatalogueCopy(file)
      try {
        let changes = 0
        const printStatus = (text: string) => process.stderr.write(process.stderr.isTTY ? `\r${text}\x1b[K` : `${text}\n`)
        await follow({
          remote: { url: address.replace(/\/$/, ''), key, onRetry: (why) => printStatus(`${why}; retrying`) },
          copy,
          once: once || target !== undefined,
          onApplied: (applied) => {
            changes += applied.changes
            const { items, prices } = copy.counts()
            printStatus(`${applied.dump ? 'the dump' : `${changes} changes`}; ${items} items, ${prices} prices`)
          },
        })
        if (process.stderr.isTTY) process.stderr.write('\r\x1b[K')
        if (target !== undefined) await writeText(target, exportCopy(copy))
        const counts = copy.counts()
        if (target !== '-')
          printResult(
            print,
            options,
            { ...counts, changes },
            `${counts.items} items, ${counts.prices} prices and ${counts.categories} categories are in ${file}`,
          )
      } finally {
        copy.close()
      }
    })
}
