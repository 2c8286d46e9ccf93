// The commands `backup` and `restore`: a whole database to a file and back, embedded or not.
import { createWriteStream, renameSync, rmSync } from 'node:fs'
import { open as openFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { backup, restore } from '#db/backup.ts'
import { addCommand, type OpenCli, type OutputOptions, type Print, show } from './command.ts'

interface RestoreOptions extends OutputOptions {
  replace?: boolean
}

export function register(program: Command, open: OpenCli, print: Print): void {
  addCommand(program, 'backup', 'write the whole database to a file, as of one moment, while the service runs')
    .argument('<file>', 'file to write, such as mintmark.backup.gz')
    .action((file: string, options: OutputOptions) =>
      open(async (_ctx, atLength) => {
        const draft = `${file}.part`
        try {
          const rows = await atLength((db) => backup(db, createWriteStream(draft, { mode: 0o600 }), progress('writing')))
          renameSync(draft, file)
          show(print, options, Object.fromEntries(rows), `Wrote ${total(rows)} rows of ${rows.size} tables to ${file}`)
        } finally {
          rmSync(draft, { force: true })
        }
      }),
    )

  addCommand(program, 'restore', 'fill an empty database from a backup')
    .argument('<file>', 'file that backup has written')
    .option('--replace', 'overwrite a database that is not empty')
    .action((file: string, options: RestoreOptions) =>
      open(async (ctx) => {
        const handle = await openFile(file).catch((error: Error) => {
          throw new Error(`${file} cannot be read: ${error.message}`, { cause: error })
        })
        const rows = await restore(ctx.db, handle.createReadStream(), { replace: options.replace ?? false, onTable: progress('restoring') })
        show(print, options, Object.fromEntries(rows), `Restored ${total(rows)} rows of ${rows.size} tables from ${file}`)
      }),
    )
}

function total(rows: Map<string, number>): number {
  return [...rows.values()].reduce((sum, count) => sum + count, 0)
}

function progress(doing: string): (table: string) => void {
  return (table) => {
    if (process.stderr.isTTY) process.stderr.write(`\r${doing} ${table}\x1b[K`)
  }
}
