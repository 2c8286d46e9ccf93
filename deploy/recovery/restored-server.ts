// A PostgreSQL server on a restored copy: cut off from the network, the archive and the standbys of production, on a Unix socket of its own.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { DrillError } from './drill-error.ts'

const PORT = 5432
const POLL_MS = 50
const LOG_CHARACTERS = 1_000_000

/** Override everything that the copy brings along, such as its archive_command. */
const SETTINGS = {
  archive_mode: 'off',
  // Without it, no setting has to be as large as on the primary.
  hot_standby: 'off',
  listen_addresses: '',
  log_destination: 'stderr',
  logging_collector: 'off',
  log_min_messages: 'log',
  max_connections: '20',
  port: String(PORT),
  primary_conninfo: '',
  recovery_target_action: 'promote',
  recovery_target_timeline: 'latest',
  shared_buffers: '256MB',
  shared_preload_libraries: '',
  ssl: 'off',
  synchronous_standby_names: '',
  unix_socket_permissions: '0700',
}

export interface Restoring {
  bin: string
  /** the copy */
  data: string
  /** folder of the socket and the settings */
  dir: string
  /** user of the server if the drill runs as root */
  identity: { uid?: number; gid?: number }
  /** null: as far as the archive goes */
  to: Date | null
  /** null: the copy already states it, as pgBackRest writes it */
  restoreCommand: string | null
}

export interface RestoredServer {
  url: (user: string, database: string) => string
  /** what the archive did not have, in the order of PostgreSQL's requests */
  missing: string[]
  /** position of the last record that was replayed, such as 0/9000148; null if there was none */
  replayedTo: string | null
  /** why PostgreSQL did not read further in a file that it had; null if it had none left */
  invalid: string | null
  stop: () => Promise<void>
}

/** Replays the archive up to the time. @throws DrillError that names the file that is missing or corrupt */
export async function restoredServer(restoring: Restoring): Promise<RestoredServer> {
  const { dir } = restoring
  const { child, log } = start(restoring)
  while (child.exitCode === null && child.signalCode === null && !log().includes('database system is ready to accept connections'))
    await delay(POLL_MS)
  if (child.exitCode !== null || child.signalCode !== null) throw new DrillError(reasonIn(log()))
  const url = (user: string, database: string) => `postgresql://${user}@/${database}?host=${encodeURIComponent(dir)}&port=${PORT}`
  const stop = async () => {
    if (child.exitCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGINT')
    await ended
  }
  return {
    url,
    missing: missingIn(log()),
    replayedTo: /redo done at ([0-9A-F]+\/[0-9A-F]+)/.exec(log())?.[1] ?? null,
    invalid: invalidIn(log()),
    stop,
  }
}

function start({ bin, data, dir, identity, to, restoreCommand }: Restoring): { child: ChildProcess; log: () => string } {
  writeFileSync(join(dir, 'postgresql.conf'), '')
  writeFileSync(join(dir, 'pg_hba.conf'), 'local all all trust\n')
  writeFileSync(join(dir, 'pg_ident.conf'), '')
  // Only settings of the copy itself: those of production, such as ALTER SYSTEM wrote them, do not apply here.
  if (restoreCommand !== null) writeFileSync(join(data, 'postgresql.auto.conf'), `restore_command = '${restoreCommand.replaceAll("'", "''")}'\n`)
  if (!existsSync(join(data, 'recovery.signal'))) appendFileSync(join(data, 'recovery.signal'), '')
  const files = { config_file: join(dir, 'postgresql.conf'), hba_file: join(dir, 'pg_hba.conf'), ident_file: join(dir, 'pg_ident.conf') }
  const target = to === null || restoreCommand === null ? {} : { recovery_target_time: postgresTime(to) }
  const all = { ...SETTINGS, ...files, ...target, unix_socket_directories: dir }
  const args = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const child = spawn(join(bin, 'postgres'), ['-D', data, ...args], { cwd: '/', env: { LC_ALL: 'C', PATH: process.env.PATH }, ...identity })
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  child.once('exit', () => process.off('exit', kill))
  let text = ''
  const keep = (chunk: string) => (text = (text + chunk).slice(-LOG_CHARACTERS))
  child.stderr.setEncoding('utf8').on('data', keep)
  child.stdout.setEncoding('utf8').on('data', keep)
  return { child, log: () => text }
}

/** PostgreSQL accepts no zone by name, such as Z, as a target. */
export function postgresTime(time: Date): string {
  return time.toISOString().replace('T', ' ').replace('Z', '+00')
}

/** WAL files that the archive does not have, as restore-wal.sh and pgBackRest report them; without histories of timelines. */
function missingIn(log: string): string[] {
  return [...log.matchAll(/\b([0-9A-F]{24}) is missing from the archive|unable to find ([0-9A-F]{24}) in the archive/g)].map(
    ([, ours, theirs]) => (ours ?? theirs)!,
  )
}

/** A file that PostgreSQL or the archive found to be corrupt. */
function invalidIn(log: string): string | null {
  const ours = /restore-wal: (.* is corrupt in the archive: .*)/.exec(log)?.[1]
  const [, said, asked] = /ERROR: ((?:\[\d+\]: )?unable to get ([0-9A-F]{24})[^\n]*)/.exec(log) ?? []
  if (ours !== undefined) return `WAL file ${ours}`
  if (asked !== undefined) return `WAL file ${asked} is corrupt in the archive: ${said!.replace(/:$/, '')}`
  const [, why, name] = /((?:unexpected|invalid|incorrect|out-of-sequence|WAL file is)[^\n]*) in (?:log|WAL) segment ([0-9A-F]{24})/.exec(log) ?? []
  return name === undefined ? null : `WAL file ${name} is corrupt in the archive: ${why}`
}

function reasonIn(log: string): string {
  const invalid = invalidIn(log)
  if (invalid !== null) return invalid
  const reached = [...log.matchAll(/last completed transaction was at log time (.*)/g)].at(-1)?.[1]
  const [missing] = missingIn(log).slice(-1)
  if (log.includes('recovery ended before configured recovery target was reached') && missing !== undefined) {
    return `WAL file ${missing} is missing from the archive; without it, the last restorable transaction is ${reached ? `of ${reached}` : 'that of the base backup'}`
  }
  return `PostgreSQL stopped: ${/(?:FATAL|PANIC): +(.*)/.exec(log)?.[1] ?? log.slice(-500)}`
}

/** Runs one query. */
export async function query<Row extends object>(url: string, statement: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Row>(statement)).rows
  } finally {
    await client.end()
  }
}
