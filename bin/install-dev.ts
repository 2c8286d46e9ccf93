// Installs the packages of tests, checks and benchmarks, which `npm ci` leaves out (.npmrc), if one is missing or has another version than
// package-lock.json says.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const MAX_WAIT_MS = 15 * 60_000

interface LockFile {
  packages: Record<string, { version?: string; link?: boolean; optional?: boolean; devOptional?: boolean }>
}

const readLock = (path: string) => JSON.parse(readFileSync(`${ROOT}${path}`, 'utf8')) as LockFile

/** Compares what npm recorded as installed. Optional packages do not count: most of them are for other platforms. */
function isInstalled(): boolean {
  if (!existsSync(`${ROOT}node_modules/.package-lock.json`)) return false
  const installed = readLock('node_modules/.package-lock.json').packages
  return Object.entries(readLock('package-lock.json').packages).every(
    ([path, { version, link, optional, devOptional }]) =>
      !path.includes('node_modules/') || link || optional || devOptional || installed[path]?.version === version,
  )
}

/** Runs the action while no other process of this checkout does; the system releases the lock of a process that ends. */
function alone(action: () => void): void {
  const lock = new DatabaseSync(`${ROOT}node_modules/.install-dev`, { timeout: MAX_WAIT_MS })
  lock.exec('begin exclusive')
  try {
    action()
  } finally {
    lock.close()
  }
}

function install(): void {
  if (isInstalled()) return
  process.stdout.write('Installing the packages of tests and checks, which takes about a minute\n')
  // The npm that runs this script, on the Node of the project.
  const npm = process.env.npm_execpath
  const [program, ...first] = npm ? [process.execPath, npm] : ['npm']
  // Not `npm ci`, which first deletes what a running service uses. `prepare` restores what this npm leaves out.
  const { status } = spawnSync(program!, [...first, 'install', '--include=dev', '--no-save', '--no-audit', '--no-fund'], { cwd: ROOT, stdio: 'inherit' })
  process.exitCode = status ?? 1
}

if (!isInstalled()) alone(install)
