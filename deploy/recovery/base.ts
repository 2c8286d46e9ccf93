// The base backups of an archive that base-backup.sh writes, and copies of them for a restore.
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DrillError } from './drill-error.ts'

export interface BaseBackup {
  name: string
  path: string
  finishedAt: Date
  /** major version of PostgreSQL */
  version: string
}

/** Complete backups, oldest first. */
function backupsIn(archive: string): BaseBackup[] {
  const folder = join(archive, 'base')
  if (!existsSync(folder)) throw new DrillError(`${folder} does not exist; run base-backup.sh first`)
  return readdirSync(folder)
    .filter((name) => name.endsWith('.finished'))
    .map((name) => name.slice(0, -'.finished'.length))
    .filter((name) => existsSync(join(folder, name, 'PG_VERSION')))
    .toSorted()
    .map((name) => {
      const path = join(folder, name)
      const finishedAt = new Date(readFileSync(`${path}.finished`, 'utf8').trim())
      return { name, path, finishedAt, version: readFileSync(join(path, 'PG_VERSION'), 'utf8').trim() }
    })
}

/** The newest backup from which a time can be reached; null: the latest. @throws DrillError if there is none */
export function chooseBackup(archive: string, to: Date | null): BaseBackup {
  const backups = backupsIn(archive)
  const chosen = backups.findLast(({ finishedAt }) => to === null || finishedAt <= to)
  if (chosen) return chosen
  const first = backups[0]
  if (!first) throw new DrillError(`${archive} contains no complete base backup`)
  throw new DrillError(`No base backup is old enough: the first one was complete at ${first.finishedAt.toISOString()}`)
}

/** Compares every file of a copied backup with its manifest. @throws DrillError that names the first file that differs */
export function verifyBackup(bin: string, copy: string, run: { uid?: number; gid?: number }): void {
  try {
    execFileSync(join(bin, 'pg_verifybackup'), ['--no-parse-wal', '--exit-on-error', copy], { ...run, cwd: '/', env: { LC_ALL: 'C' }, stdio: 'pipe' })
  } catch (error) {
    const said = (error as { stderr?: Buffer }).stderr?.toString().trim().split('\n')[0] ?? String(error)
    throw new DrillError(`The base backup is corrupt: ${said.replace(/^pg_verifybackup: (error: )?/, '')}`)
  }
}
