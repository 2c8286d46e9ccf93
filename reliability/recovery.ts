// `node reliability/recovery.ts`: archives a database during writes, and restores it to seconds with the drill, from archives with missing, late
// and corrupt files: each run restores exactly what was acknowledged by then, or names what is missing. Then a crash: at most a minute is lost.
import { execFileSync } from 'node:child_process'
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { addCredits } from '#accounts/add-credits.ts'
import { createAccount } from '#accounts/create-account.ts'
import { call } from '#core/verb.ts'
import { openPool } from '#db/connection/pool.ts'
import { unprivilegedUser } from '#db/local/data-dir.ts'
import type { Schema } from '#db/schema.ts'
import { drill, type DrillReport } from '../deploy/recovery/drill.ts'
import { DrillError } from '../deploy/recovery/drill-error.ts'
import { createPostgres, type Postgres } from './postgres.ts'
import { atMost, conclude, count, figure, type Finding, progress } from './report.ts'
import { pause, runCommand, workDir } from './service.ts'

const SCRIPTS = join(import.meta.dirname, '../deploy/recovery')
const PHASES = 5
const WRITES = 20

export interface RecoveryOptions {
  /** `archive_timeout`; a crash happens just before it ends */
  archiveSeconds: number
}

/** PostgreSQL's programs of Debian; the embedded ones cannot make base backups. */
export function canRecover(): boolean {
  return programs() !== null
}

function programs(): string | null {
  const folder = '/usr/lib/postgresql'
  const [version] = existsSync(folder) ? readdirSync(folder).toSorted((a, b) => Number(b) - Number(a)) : []
  const bin = version === undefined ? null : join(folder, version, 'bin')
  return bin !== null && existsSync(join(bin, 'pg_basebackup')) ? bin : null
}

interface Archived {
  postgres: Postgres
  archive: string
  /** times of acknowledged writes */
  acks: Date[]
  write: () => Promise<void>
  /** ends the current WAL file and waits until it is in the archive; returns its name */
  switchWal: () => Promise<string>
  backUp: () => void
}

async function startArchived(dir: string, archiveSeconds: number): Promise<Archived & { close: () => Promise<void> }> {
  const archive = join(dir, 'archive')
  const identity = identityOf()
  mkdirSync(archive)
  if (identity.uid !== undefined) execFileSync('chown', [`${identity.uid}:${identity.gid}`, archive])
  const settings = {
    archive_mode: 'on',
    archive_timeout: `${archiveSeconds}s`,
    archive_command: `"${join(SCRIPTS, 'archive-wal.sh')}" "%p" "${archive}"`,
  }
  const postgres = await createPostgres(join(dir, 'postgres'), { settings })
  await postgres.start()
  await runCommand({ DATABASE_URL: postgres.url }, 'migrate')
  const db = openPool<Schema>({ url: postgres.url, max: 2, applicationName: 'recovery' })
  const ctx = {
    db,
    viewer: { kind: 'operator' as const, name: 'recovery' },
    now: () => new Date(),
    requestId: null,
    idempotency: null,
    caughtUp: async () => {},
  }
  const { id } = await call(createAccount, ctx, { name: 'Shop', plan: 'plus' })
  const acks: Date[] = []
  const write = async () => {
    await call(addCredits, ctx, { id, amount: 1, reason: 'recovery' })
    acks.push(new Date())
    // The next one commits in another millisecond.
    await pause(10)
  }
  const switchWal = async () => {
    const [name] = (await postgres.query('select pg_walfile_name(pg_current_wal_lsn())')) as [string]
    await postgres.query('select pg_switch_wal()')
    while (!existsSync(join(archive, 'wal', `${name}.gz`))) await pause(50)
    return name
  }
  const backUp = () => {
    const { port } = postgres
    const env = { PATH: process.env.PATH, PG_BIN: programs()!, LC_ALL: 'C' }
    const args = [archive, '-h', '127.0.0.1', '-p', String(port), '-U', 'mintmark']
    execFileSync(join(SCRIPTS, 'base-backup.sh'), args, { ...identity, cwd: '/', env, stdio: 'pipe' })
  }
  const close = async () => {
    await db.close()
    await postgres.stop('immediate')
  }
  return { postgres, archive, acks, write, switchWal, backUp, close }
}

function identityOf(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const { uid, gid } = unprivilegedUser()
  return { uid, gid }
}

interface Run {
  name: string
  to: Date | null
  fault: (archive: string) => void
  /** number of acknowledged writes it must contain, or what the refusal must name */
  expected: number | string
}

const wal = (archive: string, name: string) => join(archive, 'wal', `${name}.gz`)

function flipByte(file: string): void {
  const bytes = readFileSync(file)
  bytes[bytes.length >> 1]! ^= 1
  writeFileSync(file, bytes)
}

/** A file of the base backup whose content matters. */
function largestTable(archive: string): string {
  const base = join(archive, 'base')
  const [backup] = readdirSync(base).filter((name) => !name.endsWith('.finished')) as [string]
  const files = readdirSync(join(base, backup, 'base'), { recursive: true, encoding: 'utf8' }).filter((name) => /\/\d+$/.test(name))
  return join(base, backup, 'base', files.toSorted().at(-1)!)
}

export async function recoveryRun({ archiveSeconds }: RecoveryOptions): Promise<Finding[]> {
  const dir = workDir()
  const archived = await startArchived(dir.path, archiveSeconds)
  try {
    const { archive, acks, write, switchWal, backUp, postgres } = archived
    await write()
    backUp()
    const afterBackup = new Date(Date.now() + 1_000)
    await pause(1_100)
    const files: string[] = []
    const middles: { at: Date; acks: number }[] = []
    for (let phase = 0; phase < PHASES; phase++) {
      for (let i = 0; i < WRITES; i++) await write()
      middles.push({ at: new Date(), acks: acks.length })
      await pause(10)
      for (let i = 0; i < WRITES; i++) await write()
      files.push(await switchWal())
    }
    const all = acks.length
    for (let i = 0; i < WRITES; i++) await write()
    const unarchived = { at: new Date(), acks: acks.length }
    const copyOf = (name: string) => {
      const copy = join(dir.path, name)
      cpSync(archive, copy, { recursive: true, preserveTimestamps: true })
      execFileSync('cp', ['-a', `${archive}/.`, copy])
      return copy
    }
    const early = copyOf('early')
    // PostgreSQL knows that it has reached a time once it reads a later transaction.
    await pause(10)
    await write()
    const last = await switchWal()
    const [, second, third, , fifth] = files as [string, string, string, string, string]
    const mid = middles[2]!
    const findings: Finding[] = []
    const none = () => {}
    const runs: Run[] = [
      { name: 'nothing is missing, latest', to: null, fault: none, expected: acks.length },
      { name: 'nothing is missing, to a second', to: mid.at, fault: none, expected: mid.acks },
      { name: 'to the end of the base backup', to: afterBackup, fault: none, expected: 1 },
      { name: 'a file is missing', to: mid.at, fault: (at) => rmSync(wal(at, second)), expected: `WAL file ${second} is missing` },
      { name: 'a file is missing, latest', to: null, fault: (at) => rmSync(wal(at, second)), expected: `WAL file ${second} is missing` },
      { name: 'a file after the time is missing', to: mid.at, fault: (at) => rmSync(wal(at, fifth)), expected: mid.acks },
      { name: 'a bit has flipped', to: mid.at, fault: (at) => flipByte(wal(at, third)), expected: `WAL file ${third} is corrupt` },
      { name: 'a file is cut off', to: null, fault: (at) => truncateSync(wal(at, third), 1_000), expected: `WAL file ${third} is corrupt` },
      { name: 'a checksum is missing', to: mid.at, fault: (at) => rmSync(`${wal(at, third)}.sha256`), expected: `WAL file ${third} is corrupt` },
      {
        name: 'a file has the content of another',
        to: mid.at,
        fault: (at) => {
          copyFileSync(wal(at, second), wal(at, third))
          copyFileSync(`${wal(at, second)}.sha256`, `${wal(at, third)}.sha256`)
        },
        expected: third,
      },
      { name: 'the base backup is corrupt', to: mid.at, fault: (at) => flipByte(largestTable(at)), expected: 'The base backup is corrupt' },
      { name: 'no base backup is old enough', to: new Date(acks[0]!.getTime() - 60_000), fault: none, expected: 'No base backup is old enough' },
    ]
    const minutes: number[] = []
    for (const { name, to, fault, expected } of runs) {
      const at = copyOf('faulty')
      fault(at)
      const outcome = await outcomeOf(at, to)
      rmSync(at, { recursive: true })
      progress(`${name}: ${typeof outcome === 'string' ? outcome : `${outcome.content.rows.credit_entries} writes`}`)
      if (typeof outcome !== 'string') minutes.push(outcome.minutes.total)
      findings.push(judged(name, expected, outcome))
    }
    const late = await outcomeOf(early, unarchived.at)
    findings.push(judged('the last file is late', `WAL file ${last} is missing`, late))
    for (const file of [`${wal('', last)}.sha256`, wal('', last)]) execFileSync('cp', ['-a', join(archive, file), join(early, file)])
    findings.push(judged('the last file has arrived', unarchived.acks, await outcomeOf(early, unarchived.at)))
    findings.push(figure('writes in the archive before the last file', all), figure('slowest restore, seconds', Math.max(...minutes) * 60))
    findings.push(...(await crash(archived, archiveSeconds)))
    await postgres.stop('immediate')
    return findings
  } finally {
    await archived.close()
    dir.remove()
  }
}

/** What the drill reports, or the text of its refusal. */
async function outcomeOf(archive: string, to: Date | null): Promise<DrillReport | string> {
  try {
    return await drill({ archive, to, pgBin: programs()! })
  } catch (error) {
    if (error instanceof DrillError) return error.message
    throw error
  }
}

function judged(name: string, expected: number | string, outcome: DrillReport | string): Finding {
  if (typeof outcome === 'string' || typeof expected === 'string') {
    const said = typeof outcome === 'string' ? outcome : `restored ${outcome.content.rows.credit_entries} writes`
    return {
      what: name,
      value: said,
      promised: String(expected),
      holds: typeof expected === 'string' && typeof outcome === 'string' && outcome.includes(expected),
    }
  }
  const { rows, balances } = outcome.content
  const agrees = balances['highlight credits of accounts'] === balances['entries of highlight credits'] && outcome.doctor.every(({ ok }) => ok)
  if (!agrees) return { what: name, value: JSON.stringify([balances, outcome.doctor]), promised: 'balances and doctor agree', holds: false }
  return count(name, rows.credit_entries!, expected)
}

/** Writes continuously and kills the server just before the next WAL file would be archived, which PostgreSQL decides by whole seconds. */
async function crash({ postgres, archive, acks, write }: Archived, archiveSeconds: number): Promise<Finding[]> {
  const archivedFiles = () => readdirSync(join(archive, 'wal')).filter((name) => name.endsWith('.gz')).length
  const before = archivedFiles()
  while (archivedFiles() === before) await write()
  const until = Date.now() + archiveSeconds * 1_000 - 1_500
  while (Date.now() < until) await write()
  const files = archivedFiles()
  await postgres.stop('immediate')
  progress(`the server was killed ${archiveSeconds - 1.5} s after a file was archived; ${files} files`)
  const outcome = await outcomeOf(archive, null)
  if (typeof outcome === 'string') return [{ what: 'restore after a crash', value: outcome, promised: 'succeeds', holds: false }]
  const restored = outcome.content.rows.credit_entries!
  const lostMs = acks.at(-1)!.getTime() - acks[restored - 1]!.getTime()
  return [figure('writes before a crash', acks.length), atMost('writes lost by the crash, in time', lostMs / 1_000, 60, ' s', 60)]
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { 'archive-seconds': { type: 'string', default: '50' } } })
  conclude('Recovery to a second', await recoveryRun({ archiveSeconds: Number(values['archive-seconds']) }))
}
