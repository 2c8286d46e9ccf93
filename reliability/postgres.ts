// A PostgreSQL server for a run, Debian's if installed, otherwise the embedded one; can be stopped, frozen and copied.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import pg from 'pg'
import { allowTraversal, type SystemUser, unprivilegedUser } from '#db/local/data-dir.ts'
import { chooseHome } from '#db/local/embedded-home.ts'
import { freePorts, until } from './service.ts'

export interface Postgres {
  url: string
  port: number
  describe: string
  start: () => Promise<void>
  /** `immediate` discards everything not yet written, like a crash. */
  stop: (mode: 'fast' | 'immediate') => Promise<void>
  /** Freezes all its processes until `thaw`. */
  freeze: () => void
  thaw: () => void
  /** A streaming replica, not yet started; requires pg_basebackup, which the embedded programs lack. */
  replica: (dir: string) => Promise<Postgres>
  /** Promotes a replica to a primary. */
  promote: () => void
  /** Runs a statement. @returns the first column */
  query: (statement: string) => Promise<string[]>
}

const DEBIAN = '/usr/lib/postgresql'
const USER = 'mintmark'
const SETTINGS = { max_connections: '100', wal_level: 'replica', max_wal_senders: '5', hot_standby: 'on', log_min_messages: 'log' }

/** @param dir an empty directory only for this server, accessible to all users */
export async function createPostgres(dir: string, { host = '127.0.0.1', settings = {} as Record<string, string> } = {}): Promise<Postgres> {
  const { bin, describe, user } = programs(dir)
  if (user) allowTraversal(dirname(dir), user)
  const data = join(dir, 'data')
  mkdirSync(data, { recursive: true, mode: 0o700 })
  if (user) execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, dir])
  asUser(user, join(bin, 'initdb'), ['-D', data, '-U', USER, '--auth=trust', '--encoding=UTF8', '--no-locale', '--no-sync'])
  writeFileSync(
    join(data, 'pg_hba.conf'),
    'local all all trust\nlocal replication all trust\nhost all all all trust\nhost replication all all trust\n',
  )
  return server({ bin, describe, user, dir, data, host, settings })
}

interface Where {
  bin: string
  describe: string
  user: SystemUser | null
  dir: string
  data: string
  host: string
  settings: Record<string, string>
}

async function server(where: Where): Promise<Postgres> {
  const { bin, describe, user, dir, data, host, settings } = where
  const [port] = (await freePorts(1)) as [number]
  const url = `postgresql://${USER}:x@${host}:${port}/mintmark?sslmode=disable`
  const all = { ...SETTINGS, ...settings, port: String(port), listen_addresses: host, unix_socket_directories: dir }
  const query = async (statement: string, database = 'mintmark') => {
    const client = new pg.Client({ host: dir, port, user: USER, database })
    await client.connect()
    try {
      const { rows } = await client.query<[string]>({ text: statement, rowMode: 'array' })
      return rows.map(([first]) => first)
    } finally {
      await client.end()
    }
  }
  const start = async () => {
    const options = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const identity = user ? { uid: user.uid, gid: user.gid } : {}
    const child = spawn(join(bin, 'postgres'), ['-D', data, ...options], { cwd: '/', ...identity, detached: true, stdio: 'ignore' })
    const kill = () => {
      for (const pid of processes(child.pid!)) signal(pid, 'SIGKILL')
    }
    process.once('exit', kill)
    child.once('exit', () => process.off('exit', kill))
    await until(
      'PostgreSQL takes connections',
      () =>
        child.exitCode !== null ||
        query('select 1', 'postgres').then(
          () => true,
          () => false,
        ),
      60_000,
    )
    if (child.exitCode !== null) throw new Error(`PostgreSQL ended with ${child.exitCode}`)
    const databases = await query('select datname from pg_database', 'postgres')
    if (!databases.includes('mintmark')) await query('create database mintmark', 'postgres')
    current = child
  }
  let current: ReturnType<typeof spawn> | null = null
  const signalAll = (name: NodeJS.Signals) => {
    for (const pid of processes(current!.pid!)) signal(pid, name)
  }
  return {
    url,
    port,
    describe,
    start,
    query,
    async stop(mode) {
      const child = current
      if (!child || child.exitCode !== null || child.signalCode !== null) return
      const exited = once(child, 'exit')
      child.kill(mode === 'fast' ? 'SIGINT' : 'SIGQUIT')
      await exited
    },
    freeze: () => signalAll('SIGSTOP'),
    thaw: () => signalAll('SIGCONT'),
    promote: () => void asUser(user, join(bin, 'pg_ctl'), ['-D', data, 'promote', '-w']),
    async replica(replicaDir) {
      mkdirSync(replicaDir, { recursive: true })
      if (user) execFileSync('chown', [`${user.uid}:${user.gid}`, replicaDir])
      const copy = join(replicaDir, 'data')
      asUser(user, join(bin, 'pg_basebackup'), ['-D', copy, '-R', '-X', 'stream', '-c', 'fast', '-h', dir, '-p', String(port), '-U', USER])
      return server({ ...where, dir: replicaDir, data: copy })
    },
  }
}

/** The server and its children. */
function processes(postmaster: number): number[] {
  const children = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && parentOf(name) === postmaster)
  return [postmaster, ...children.map(Number)]
}

function parentOf(pid: string): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return null
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // The process has already ended.
  }
}

function programs(dir: string): { bin: string; describe: string; user: SystemUser | null } {
  mkdirSync(dir, { recursive: true })
  chmodSync(dir, 0o755)
  const user = process.getuid?.() === 0 ? unprivilegedUser() : null
  const [version] = existsSync(DEBIAN) ? readdirSync(DEBIAN).toSorted((a, b) => Number(b) - Number(a)) : []
  if (version) return { bin: join(DEBIAN, version, 'bin'), describe: `PostgreSQL ${version} of Debian`, user }
  const home = chooseHome(dir, { info: () => {}, warn: () => {} })
  return { bin: join(home.native, 'bin'), describe: `PostgreSQL ${home.version} (embedded)`, user: home.user }
}

function asUser(user: SystemUser | null, program: string, args: string[]): string {
  const identity = user ? { uid: user.uid, gid: user.gid } : {}
  return execFileSync(program, args, {
    cwd: '/',
    encoding: 'utf8',
    env: { LC_ALL: 'C', PATH: '/usr/bin:/bin' },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...identity,
  })
}
