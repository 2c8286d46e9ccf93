// The commands `backup` and `restore`: a whole database to a file and back, embedded or not.
import { renameSync, rmSync } from 'node:fs'
import { type FileHandle, open as openFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Command } from 'commander'
import { backup, restore } from '#db/backups/backup.ts'
import { keyLines, readKeyLine, type StoredKey } from '#db/personal/person-keys.ts'
import type { Db } from '#db/schema.ts'
import { addCommand, type OpenCli, type OutputOptions, type Print, printResult } from './terminal/command.ts'

interface BackupOptions extends OutputOptions {
  keys?: string
}

interface RestoreOptions extends BackupOptions {
  replace?: boolean
  withoutKeys?: boolean
}

/** One file for all backups: an old copy of it would make erased people readable again. */
const KEYS_FILE = 'mintmark-person-keys.ndjson'

export function register(program: Command, open: OpenCli, print: Print): void {
  addCommand(program, 'backup', 'write a consistent backup of the database to a file while the service runs')
    .argument('<file>', 'file to write, such as mintmark.backup.gz')
    .option('--keys <file>', `file of the keys of people, replaced by each backup; default: ${KEYS_FILE} beside the backup`)
    .action((file: string, options: BackupOptions) =>
      open(async (ctx, atLength) => {
        const draft = `${file}.part`
        try {
          const write = async (db: Db) => backup(db, (await opened(draft, 'w', 'written')).createWriteStream(), progress('writing'), ctx.db.kysely)
          const rows = await atLength(write)
          await writeKeys(ctx.db, keysOf(file, options))
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
    .option('--keys <file>', `file of the keys of people; default: ${KEYS_FILE} beside the backup`)
    .option('--without-keys', 'restore although the keys are lost: names and texts of people are lost, too')
    .action((file: string, options: RestoreOptions) =>
      open(async (ctx) => {
        const handle = await opened(file, 'r', 'read')
        const keys = options.withoutKeys ? [] : await readKeys(keysOf(file, options))
        const rows = await restore(ctx.db, handle.createReadStream(), { replace: options.replace ?? false, keys, onTable: progress('restoring') })
        printResult(print, options, Object.fromEntries(rows), `Restored ${total(rows)} rows of ${rows.size} tables from ${file}`)
      }),
    )
}

function keysOf(file: string, { keys }: BackupOptions): string {
  return keys ?? join(dirname(file), KEYS_FILE)
}

async function writeKeys(db: Db, path: string): Promise<void> {
  const draft = `${path}.part`
  try {
    await pipeline(Readable.from(keyLines(db.kysely)), (await opened(draft, 'w', 'written')).createWriteStream())
    renameSync(draft, path)
  } finally {
    rmSync(draft, { force: true })
  }
}

async function readKeys(path: string): Promise<StoredKey[]> {
  const handle = await opened(path, 'r', 'read').catch((error: Error) => {
    throw new Error(`${error.message}; the keys of people are needed: give --keys or, if they are lost, --without-keys`, { cause: error })
  })
  const keys: StoredKey[] = []
  for await (const line of handle.readLines()) if (line !== '') keys.push(readKeyLine(line))
  return keys
}

async function opened(path: string, flags: 'r' | 'w', what: string): Promise<FileHandle> {
  try {
    const handle = await openFile(path, flags, 0o600)
    // A directory would fail only when it is read.
    if ((await handle.stat()).isDirectory()) throw new Error('EISDIR: it is a directory')
    return handle
  } catch (error) {
    throw new Error(`${path} cannot be ${what}: ${(error as Error).message}`, { cause: error })
  }
}

function total(rows: Map<string, number>): number {
  return [...rows.values()].reduce((sum, count) => sum + count, 0)
}

function progress(doing: string): (table: string) => void {
  return (table) => {
    if (process.stderr.isTTY) process.stderr.write(`\r${doing} ${table}\x1b[K`)
  }
}
