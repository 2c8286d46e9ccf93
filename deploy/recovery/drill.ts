// `npm run drill`: restores the database beside production to a given second, checks it, and reports how long it took and what would
// have been lost. Exits with 1 and names what is missing if the restore does not reach the time; with 2 on wrong usage.
import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { ownerOf, unprivilegedUser } from '#db/local/data-dir.ts'
import { chooseBackup, verifyBackup } from './base.ts'
import { type Content, contentOf, differences } from './compare.ts'
import { DrillError } from './drill-error.ts'
import { postgresTime, query, type RestoredServer, restoredServer } from './restored-server.ts'

const USAGE = `Usage: npm run drill -- --archive <folder> | --stanza <name> [options]

Restores the newest base backup and the archived WAL in a temporary folder, on a socket of its own; production is only read.

  --archive <folder>     the archive of archive-wal.sh and base-backup.sh
  --stanza <name>        the stanza of pgBackRest instead, with --config <file> for its configuration
  --to <time>            the second to restore to, such as 2026-11-28T15:41:07Z; default: the latest
  --production <url>     database to compare with
  --user <name>, --database <name>   of the restored database; default: mintmark
  --in <folder>          where to restore; needs the space of the database; default: the system's temporary folder
  --pg-bin <folder>      programs of PostgreSQL; default: Debian's of the same version
  --json                 prints one JSON value`

export interface DrillOptions {
  archive?: string | undefined
  stanza?: string | undefined
  config?: string | undefined
  to?: Date | null | undefined
  production?: string | undefined
  user?: string | undefined
  database?: string | undefined
  in?: string | undefined
  pgBin?: string | undefined
}

export interface DrillReport {
  backup: string
  /** minutes to copy and verify the base backup, and to replay the archive */
  minutes: { copy: number; replay: number; checks: number; total: number }
  content: Content
  doctor: { check: string; ok: boolean; found: string }[]
  /** against production, without `production` null */
  differences: string[] | null
  /** seconds between the last write restored and the last write of production; null without `production` or with a time */
  lostSeconds: number | null
}

/** @throws DrillError that says what is missing */
export async function drill(options: DrillOptions): Promise<DrillReport> {
  const work = mkdtempSync(join(options.in ?? tmpdir(), 'mintmark-drill-'))
  const root = process.getuid?.() === 0
  const user = root ? ((options.archive ? ownerOf(options.archive) : null) ?? unprivilegedUser()) : null
  const identity = user ? { uid: user.uid, gid: user.gid } : {}
  let server: RestoredServer | null = null
  try {
    chmodSync(work, 0o711)
    const dir = join(work, 'server')
    mkdirSync(dir)
    if (user) chownSync(dir, user.uid, user.gid)
    const started = performance.now()
    const copied = options.stanza === undefined ? copyBackup(options, dir, identity) : restoreStanza(options, dir, identity)
    const copiedAt = performance.now()
    server = await restoredServer({ ...copied, dir, identity, to: options.to ?? null })
    const replayedAt = performance.now()
    const { user: name = 'mintmark', database = 'mintmark' } = options
    const url = server.url(name, database)
    await checkEnd(options, server, url)
    const content = await contentOf(url)
    const production = options.production === undefined ? null : await contentOf(options.production)
    const doctor = doctorOf(url)
    const minutes = (from: number, until: number) => (until - from) / 60_000
    const ended = performance.now()
    const lostMs = production?.lastWrite && content.lastWrite && !options.to ? production.lastWrite.getTime() - content.lastWrite.getTime() : null
    return {
      backup: copied.name,
      minutes: {
        copy: minutes(started, copiedAt),
        replay: minutes(copiedAt, replayedAt),
        checks: minutes(replayedAt, ended),
        total: minutes(started, ended),
      },
      content,
      doctor,
      differences: production && differences(content, production),
      lostSeconds: lostMs === null ? null : lostMs / 1_000,
    }
  } finally {
    await server?.stop()
    rmSync(work, { recursive: true, force: true })
  }
}

interface Copied {
  name: string
  bin: string
  data: string
  restoreCommand: string | null
}

type Identity = { uid?: number; gid?: number }

function copyBackup({ archive, to = null, pgBin }: DrillOptions, dir: string, identity: Identity): Copied {
  const from = resolve(archive!)
  const backup = chooseBackup(from, to)
  const bin = pgBin ?? `/usr/lib/postgresql/${backup.version}/bin`
  if (!existsSync(join(bin, 'pg_verifybackup')))
    throw new DrillError(`${bin} has no pg_verifybackup; install PostgreSQL ${backup.version} or set --pg-bin`)
  const data = join(dir, 'data')
  execFileSync('cp', ['-a', '--reflink=auto', backup.path, data], { ...identity, cwd: '/' })
  verifyBackup(bin, data, identity)
  const script = join(import.meta.dirname, 'restore-wal.sh')
  return { name: backup.name, bin, data, restoreCommand: `"${script}" "%f" "%p" "${from}"` }
}

function restoreStanza({ stanza, config, to = null, pgBin }: DrillOptions, dir: string, identity: Identity): Copied {
  const data = join(dir, 'data')
  mkdirSync(data, { mode: 0o700 })
  if (identity.uid !== undefined) chownSync(data, identity.uid, identity.gid!)
  const common = [`--stanza=${stanza}`, ...(config === undefined ? [] : [`--config=${config}`])]
  const target = to === null ? [] : ['--type=time', `--target=${postgresTime(to)}`, '--target-action=promote']
  try {
    // With `info`, it names each file that it does not find.
    const get = [
      'pgbackrest',
      ...common,
      `--pg1-path="${data}"`,
      '--log-level-console=info',
      '--log-level-file=off',
      'archive-get',
      '%f',
      '"%p"',
    ].join(' ')
    const log = ['--log-level-console=warn', '--log-level-file=off']
    const args = [...common, `--pg1-path=${data}`, ...log, ...target, `--recovery-option=restore_command=${get}`, 'restore']
    execFileSync('pgbackrest', args, { ...identity, cwd: '/', encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    throw new DrillError(`pgBackRest: ${(stdout + stderr).trim().split('\n')[0]}`)
  }
  const version = execFileSync('cat', [join(data, 'PG_VERSION')], { encoding: 'utf8' }).trim()
  return { name: `pgBackRest ${stanza}`, bin: pgBin ?? `/usr/lib/postgresql/${version}/bin`, data, restoreCommand: null }
}

/** Without a time, PostgreSQL ends at the first file that it cannot use, even if there are later ones. */
async function checkEnd(options: DrillOptions, { missing, invalid, replayedTo }: RestoredServer, url: string): Promise<void> {
  if (options.to || replayedTo === null) return
  const [last] = await query<{ name: string }>(url, `select pg_walfile_name('${replayedTo}') as name`)
  const newest = newestWal(options)
  // After the timeline, names sort by age.
  if (newest === null || newest.slice(8) <= last!.name.slice(8)) return
  const missed = missing[0] === undefined ? `The replay stopped in WAL file ${last!.name}` : `WAL file ${missing[0]} is missing from the archive`
  throw new DrillError(`${invalid ?? missed}, although the archive has files up to ${newest}`)
}

/** The name of the newest WAL file in the archive. */
function newestWal({ archive, stanza, config }: DrillOptions): string | null {
  let names: string[]
  if (archive === undefined) {
    const args = [`--stanza=${stanza}`, ...(config === undefined ? [] : [`--config=${config}`]), '--output=json', 'info']
    const [info] = JSON.parse(execFileSync('pgbackrest', args, { cwd: '/', encoding: 'utf8' })) as [{ archive: { max: string | null }[] }]
    names = info.archive.flatMap(({ max }) => max ?? [])
  } else {
    names = readdirSync(join(archive, 'wal'))
      .filter((name) => /^[0-9A-F]{24}\.gz$/.test(name))
      .map((name) => name.slice(0, 24))
  }
  return names.toSorted((a, b) => (a.slice(8) < b.slice(8) ? -1 : 1)).at(-1) ?? null
}

/** The findings of `doctor`; a copy has no worker and no ports. */
function doctorOf(url: string): DrillReport['doctor'] {
  const env = { PATH: process.env.PATH, DATABASE_URL: url, PORT: '0', OPERATOR_PORT: '0' }
  const main = join(import.meta.dirname, '../../src/main.ts')
  let output: string
  try {
    output = execFileSync(process.execPath, [main, 'doctor', '--json'], { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  } catch (error) {
    output = (error as { stdout: string }).stdout
  }
  const { findings } = JSON.parse(output) as { findings: DrillReport['doctor'] }
  return findings.filter(({ check }) => check === 'database' || check === 'migrations')
}

function linesOf({ backup, minutes, content, doctor, differences: differing, lostSeconds }: DrillReport): string[] {
  const rows = Object.values(content.rows).reduce((sum, each) => sum + each, 0)
  const inMinutes = (value: number) => `${value.toFixed(1)} min`
  return [
    `Base backup    ${backup}, every file as in its manifest`,
    `Restored       in ${inMinutes(minutes.total)}: copy ${inMinutes(minutes.copy)}, replay ${inMinutes(minutes.replay)}, checks ${inMinutes(minutes.checks)}`,
    `Last write     ${content.lastWrite?.toISOString() ?? 'none'}`,
    `Content        ${Object.keys(content.rows).length} tables, ${rows} rows`,
    ...Object.entries(content.balances).map(([name, sum]) => `               ${name}: ${sum}`),
    ...doctor.map(({ check, ok, found }) => `Doctor         ${ok ? '✓' : '✗'} ${check}: ${found}`),
    ...(differing ?? []).map((line) => `Differs        ${line}`),
    ...(lostSeconds === null ? [] : [`Would be lost  ${lostSeconds.toFixed(1)} s of writes`]),
  ]
}

async function main(): Promise<void> {
  const text = { type: 'string' } as const
  const names = ['archive', 'stanza', 'config', 'to', 'production', 'user', 'database', 'in', 'pg-bin'] as const
  const options = { ...Object.fromEntries(names.map((name) => [name, text])), json: { type: 'boolean' }, help: { type: 'boolean' } } as const
  const wrong = (message: string) => {
    process.stderr.write(`mintmark drill: ${message}\n\n${USAGE}\n`)
    process.exitCode = 2
  }
  let values: Partial<Record<string, string | boolean>>
  try {
    values = parseArgs({ options }).values
  } catch (error) {
    return wrong((error as Error).message)
  }
  if (values.help) return void process.stdout.write(`${USAGE}\n`)
  const { archive, stanza, config, production, user, database, in: folder, 'pg-bin': pgBin } = values as Partial<Record<string, string>>
  if ((archive === undefined) === (stanza === undefined)) return wrong('either --archive or --stanza is needed')
  const to = values.to === undefined ? null : new Date(String(values.to))
  if (to !== null && (Number.isNaN(to.getTime()) || !/(Z|[+-]\d\d:?\d\d)$/.test(String(values.to))))
    return wrong('--to must be a time with a zone, such as 2026-11-28T15:41:07Z')
  try {
    const report = await drill({ archive, stanza, config, to, production, user, database, in: folder, pgBin })
    process.stdout.write(values.json ? `${JSON.stringify(report)}\n` : `${linesOf(report).join('\n')}\n`)
    if (report.doctor.some(({ ok }) => !ok)) process.exitCode = 1
  } catch (error) {
    if (!(error instanceof DrillError)) throw error
    process.stderr.write(`mintmark drill: ${error.message}\n`)
    process.exitCode = 1
  }
}

if (import.meta.main) await main()
