// The data directory: private, claimed by one process at a time, with the generated secrets; also checks which users can access it.
import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, linkSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { secretBytes } from '#core/process/secret-bytes.ts'

const CLAIM_FILE = 'mintmark.pid'

/** Identifies a process, also after its number is reused. */
export interface ProcessIdentity {
  pid: number
  /** Opaque start time: kernel ticks on Linux, the date as `ps` prints it elsewhere. */
  started: string
}

/** When the process started; null if no process has that number (a zombie counts as ended). */
export function processStart(pid: number): string | null {
  try {
    if (process.platform !== 'linux') return ps(pid, 'lstart') || null
    // The name in parentheses may contain spaces; after it come the state (field 3) and, as field 22, the start time.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' || fields[0] === 'X' ? null : fields[19]!
  } catch {
    return null
  }
}

/** Its command and arguments, each followed by a space; empty if there is no such process. */
export function commandLine(pid: number): string {
  try {
    if (process.platform !== 'linux') return `${ps(pid, 'args')} `
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}

/** Whether this process still runs. */
export function isRunning(identity: ProcessIdentity): boolean {
  return processStart(identity.pid) === identity.started
}

/** Identity of a running process; null if it has ended. */
export function identify(pid: number): ProcessIdentity | null {
  const started = processStart(pid)
  return started === null ? null : { pid, started }
}

/**
 * Creates the directory (0700) if it is missing and claims it for this process until `release`. A claim left by a
 * killed process is recognised and replaced.
 * @throws Error of one sentence if another process has it or it cannot be written
 */
export function claimDataDir(dataDir: string): { release(): void } {
  const own = identify(process.pid)!
  const draft = join(dataDir, `${CLAIM_FILE}.${process.pid}`)
  const claim = join(dataDir, CLAIM_FILE)
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    writeFileSync(draft, JSON.stringify(own), { mode: 0o600 })
  } catch (error) {
    throw isSystemError(error) ? new Error(`DATA_DIR ${dataDir} is not writable: ${systemMessage(error)}`) : error
  }
  try {
    // Creating a link is atomic and fails if the claim exists, so no reader ever sees a partial claim.
    while (!linked(draft, claim)) {
      const holder = readIdentity(claim)
      if (holder && isRunning(holder)) {
        throw new Error(`DATA_DIR ${dataDir} is in use by another mintmark (process ${holder.pid})`)
      }
      setStaleAside(claim, `${draft}.stale`)
    }
  } finally {
    rmSync(draft, { force: true })
  }
  const release = () => {
    const holder = readIdentity(claim)
    if (holder?.pid === own.pid && holder.started === own.started) rmSync(claim, { force: true })
  }
  return { release }
}

/**
 * The secret of that name in the data directory, 43 characters of base64url (256 bits), generated at the first call and
 * readable by this user only.
 */
export function ensureSecret(dataDir: string, name: string): string {
  const file = join(dataDir, name)
  const draft = `${file}.${process.pid}`
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'ENOENT') throw error
  }
  try {
    writeFileSync(draft, `${secretBytes(32).toString('base64url')}\n`, { mode: 0o600, flush: true })
    linked(draft, file)
  } finally {
    rmSync(draft, { force: true })
  }
  return readFileSync(file, 'utf8').trim()
}

/** A user by the ids of the kernel, without supplementary groups. */
export interface SystemUser {
  name: string
  uid: number
  gid: number
}

/**
 * The user for servers that refuse to run as root.
 * @throws Error if the system has neither `postgres` nor `nobody`
 */
export function unprivilegedUser(): SystemUser {
  const users = systemUsers()
  const names = ['postgres', '_postgres', 'nobody']
  const user = names.map((name) => users.find((each) => each.name === name)).find((each) => each)
  if (!user)
    throw new Error(
      'PostgreSQL does not run as root, and this machine has neither a user postgres nor nobody; start mintmark as another user or set DATABASE_URL',
    )
  return user
}

/** Owner of the file; null if there is no such file or it belongs to root. */
export function ownerOf(file: string): SystemUser | null {
  const stat = statSync(file, { throwIfNoEntry: false })
  if (!stat || stat.uid === 0) return null
  const { uid, gid } = stat
  return { name: systemUsers().find((user) => user.uid === uid)?.name ?? `user ${uid}`, uid, gid }
}

function systemUsers(): SystemUser[] {
  const lines = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .filter((line) => /^[^#]/.test(line))
  return lines.map((line) => {
    const [name, , uid, gid] = line.split(':') as [string, string, string, string]
    // macOS reports the ids of `nobody` as -2.
    return { name, uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 }
  })
}

/** Whether the mode bits allow the user to traverse every parent directory, and to read the file or enter the directory. */
export function canRead(path: string, user: SystemUser): boolean {
  const target = realpathSync(path)
  const PASS = 1
  const READ = 4
  if (!allows(target, user, statSync(target).isDirectory() ? PASS : READ)) return false
  for (let directory = dirname(target); ; directory = dirname(directory)) {
    if (!allows(directory, user, PASS)) return false
    if (directory === dirname(directory)) return true
  }
}

/** Lets the user traverse a directory that root owns (mode 0710, by its group); its content stays hidden. */
export function allowTraversal(directory: string, user: SystemUser): void {
  const stat = statSync(directory)
  if (stat.uid !== 0 || allows(directory, user, 1)) return
  chownSync(directory, 0, user.gid)
  chmodSync(directory, (stat.mode & 0o700) | 0o010)
}

function allows(path: string, user: SystemUser, bits: number): boolean {
  const { uid, gid, mode } = statSync(path)
  const shift = uid === user.uid ? 6 : gid === user.gid ? 3 : 0
  return ((mode >> shift) & bits) === bits
}

export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
}

/** The system's message without the call and the path: `permission denied`, `no space left on device`. */
export function systemMessage(error: NodeJS.ErrnoException): string {
  return /^[A-Z0-9]+: ([^,]+)/.exec(error.message)?.[1] ?? error.message
}

function ps(pid: number, field: string): string {
  const options = { encoding: 'utf8' as const, env: { LC_ALL: 'C' }, stdio: ['ignore', 'pipe', 'ignore'] as 'pipe'[] }
  return execFileSync('/bin/ps', ['-o', `${field}=`, '-p', String(pid)], options).trim()
}

function linked(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if (isSystemError(error) && error.code === 'EEXIST') return false
    throw error
  }
}

function readIdentity(file: string): ProcessIdentity | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as ProcessIdentity
  } catch {
    return null
  }
}

/** Two processes may find the same stale claim: the one that moved the other's new claim away restores it. */
function setStaleAside(claim: string, aside: string): void {
  try {
    renameSync(claim, aside)
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') return
    throw error
  }
  const moved = readIdentity(aside)
  if (moved && isRunning(moved)) linked(aside, claim)
  rmSync(aside, { force: true })
}
