// The commands `backup` and `restore`: a whole database to a file and back, embedded or not.
import { renameSync, rmSync } from 'node:fs'
import { type FileHandle, open as openFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { backup, restore } from '#db/backup.ts'
import { addCommand, type OpenCli, type OutputOptions, type Print, printResult } from './terminal/command.ts'

interface RestoreOptions extends OutputOptions {
  replace?: boolean
}

export function register(program: Command, open: OpenCli, print: Print): void {
  addCommand(program, 'backup', 'write a consistent backup of the database to a file while the service runs')
    .argument('<file>', 'file to write, such as mintmark.backup.gz')
    .action((file: string, options: OutputOptions) =>
      open(async (_ctx, atLength) => {
        const draft = `${file}.part`
        try {
          const rows = await atLength(async (db) => backup(db, (await opened(draft, 'w', 'written')).createWriteStream(), progress('writing')))
          renameSync(draft, file)
          printResult(print, options, Object.fromEntries(rows), `Wrote ${total(rows)} rows of ${rows.size} tables to ${file}`)
        } finally {
          rmSync(draft, { force: true })
        }
      }),
    )

  addCommand(program, 'restore', 'restore a backup into an empty database')
    .argument('<file>', 'backup file')
    .option('--replace', 'overwrite a database that is not empty')
    .action((file: string, options: RestoreOptions) =>
      open(async (ctx) => {
        const handle = await opened(file, 'r', 'read')
        const rows = await restore(ctx.db, handle.createReadStream(), { replace: options.replace ?? false, onTable: progress('restoring') })
        printResult(print, options, Object.fromEntries(rows), `Restored ${total(rows)} rows of ${rows.size} tables from ${file}`)
      }),
    )
}

function opened(path: string, flags: 'r' | 'w', what: string): Promise<FileHandle> {
  return openFile(path, flags, 0o600).catch((error: Error) => {
    throw new Error(`${path} cannot be ${what}: ${error.message}`, { cause: error })
  })
}

function total(rows: Map<string, number>): number {
  return [...rows.values()].reduce((sum, count) => sum + count, 0)
}

function progress(doing: string): (table: string) => void {
  return (table) => {
    if (process.stderr.isTTY) process.stderr.write(`\r${doing} ${table}\x1b[K`)
  }
}
