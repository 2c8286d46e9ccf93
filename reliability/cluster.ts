// A PostgreSQL cluster with Patroni, etcd and HAProxy, each on its own machine, from the files in deploy/ha.
import { spawnSync } from 'node:child_process'
import { chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { installed } from './proxy-and-clients.ts'
import type { Machine, Machines } from './machines.ts'
import { canUseNamespaces } from './node-hosts.ts'
import { pause, until } from './service.ts'

export interface ClusterNode {
  machine: Machine
  start: () => void
}

export interface Cluster {
  postgres: ClusterNode[]
  etcd: ClusterNode[]
  haproxy: ClusterNode
  /** hosts of the program's database for DATABASE_URL */
  url: (...hosts: string[]) => string
  /** A superuser connection to one node. */
  connect: (node: ClusterNode) => Promise<pg.Client>
  primary: () => Promise<ClusterNode>
  etcdLeader: () => Promise<ClusterNode>
  /** Waits until both standbys stream and one of them is synchronous. */
  untilComplete: () => Promise<number>
}

interface Member {
  name: string
  role: string
  state: string
}

const FILES = new URL('../deploy/ha/', import.meta.url)
const PASSWORD = 'change-me-superuser'
const COMPLETE_MS = 180_000

/** The first requirement that this machine does not meet; null if it meets all. */
export function missingRequirement(): string | null {
  if (!canUseNamespaces()) return 'root and network namespaces'
  const programs = [
    ['patroni', '--version'],
    ['etcd', '--version'],
    ['haproxy', '-v'],
    ['setpriv', '--version'],
    ['/usr/lib/postgresql/15/bin/postgres', '--version'],
  ] as const
  const program = programs.find(([program, flag]) => !installed(program, flag))
  if (program) return program[0]
  const version = spawnSync('patroni', ['--version'], { encoding: 'utf8' }).stdout.trim().replace('patroni ', '')
  const [major = 0, minor = 0] = version.split('.').map(Number)
  // Earlier versions lose acknowledged writes when a frozen primary resumes.
  return major > 3 || (major === 3 && minor >= 1) ? null : `Patroni 3.1 or newer, not ${version}`
}

/** Starts three etcd members, three PostgreSQL nodes with Patroni, and HAProxy, and creates the program's database. */
export async function startCluster(machines: Machines, dir: string): Promise<Cluster> {
  const text = (name: string) => readFileSync(new URL(name, FILES), 'utf8').replaceAll('10.0.0.', machines.net)
  const etcd = [1, 2, 3].map((n) => etcdMember(machines.add(`etcd${n}`, 20 + n), dir, text('etcd.env'), `${machines.net}21`))
  for (const { start } of etcd) start()
  const postgres = [1, 2, 3].map((n) => postgresNode(machines.add(`pg${n}`, 10 + n), dir, text('patroni.yml'), `${machines.net}11`))
  const haproxyMachine = machines.add('haproxy', 31)
  const haproxyFile = join(dir, 'haproxy.cfg')
  writeFileSync(haproxyFile, text('haproxy.cfg'))
  const haproxy = {
    machine: haproxyMachine,
    start: () => void haproxyMachine.run('haproxy', ['-db', '-f', haproxyFile], { log: join(dir, 'haproxy.log') }),
  }
  const connect = async ({ machine }: ClusterNode) => {
    const client = new pg.Client({
      host: machine.address,
      user: 'postgres',
      password: PASSWORD,
      database: 'postgres',
      connectionTimeoutMillis: 1_000,
      query_timeout: 5_000,
    })
    client.on('error', () => {})
    await client.connect()
    return client
  }
  const members = async (): Promise<Member[]> => {
    for (const { machine } of postgres) {
      try {
        const response = await fetch(`http://${machine.address}:8008/cluster`, { signal: AbortSignal.timeout(1_000) })
        return ((await response.json()) as { members: Member[] }).members
      } catch {
        // Another member may answer.
      }
    }
    return []
  }
  const primary = async () => {
    for (;;) {
      const leader = (await members()).find(({ role }) => role === 'leader')
      const node = postgres.find(({ machine }) => machine.name === leader?.name)
      if (node) return node
      await pause(100)
    }
  }
  const streaming = async () => {
    const client = await connect(await primary())
    try {
      const { rows } = await client.query<{ sync_state: string }>("select sync_state from pg_stat_replication where state = 'streaming'")
      return rows.length === 2 && rows.some(({ sync_state: state }) => state === 'sync')
    } finally {
      void client.end().catch(() => {})
    }
  }
  /** The state of the nodes, for diagnosis. */
  const state = async () => {
    const logs = postgres.map(
      ({ machine: { name } }) =>
        `${name}:\n${readFileSync(join(dir, `${name}.log`), 'utf8')
          .split('\n')
          .slice(-12)
          .join('\n')}`,
    )
    return [JSON.stringify(await members()), ...logs].join('\n')
  }
  const untilComplete = () =>
    until(
      'the cluster is complete',
      async () => {
        const roles = (await members()).filter(({ state }) => state === 'running' || state === 'streaming').map(({ role }) => role)
        return roles.length === 3 && roles.includes('leader') && roles.includes('sync_standby') && (await streaming().catch(() => false))
      },
      COMPLETE_MS,
    ).catch(async (error: Error) => {
      throw new Error(`${error.message}\n${await state()}`)
    })
  // One after the other, because the first one bootstraps the cluster.
  postgres[0]!.start()
  await primary()
  for (const node of postgres.slice(1)) node.start()
  haproxy.start()
  await untilComplete()
  const client = await connect(await primary())
  await client.query("create role mintmark login password 'secret'")
  await client.query('create database mintmark owner mintmark')
  await client.query('create table probe (at timestamptz default clock_timestamp())')
  await client.end()
  const etcdLeader = async () => {
    for (const member of etcd) {
      const response = await fetch(`http://${member.machine.address}:2379/v3/maintenance/status`, { method: 'POST', body: '{}' })
      const { header, leader } = (await response.json()) as { header: { member_id: string }; leader: string }
      if (header.member_id === leader) return member
    }
    throw new Error('etcd has no leader')
  }
  const url = (...hosts: string[]) => `postgresql://mintmark:secret@${hosts.join(',')}/mintmark?target_session_attrs=read-write&sslmode=disable`
  return { postgres, etcd, haproxy, url, connect, primary, etcdLeader, untilComplete }
}

function etcdMember(machine: Machine, dir: string, text: string, first: string): ClusterNode {
  const settings = text.split('\n').filter((line) => line.startsWith('ETCD_'))
  const env = Object.fromEntries(settings.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]))
  for (const name of Object.keys(env)) if (name.includes('_URLS')) env[name] = env[name]!.replace(first, machine.address)
  const adapted = { ...env, ETCD_NAME: machine.name, ETCD_DATA_DIR: join(dir, machine.name) }
  return { machine, start: () => void machine.run('etcd', [], { log: join(dir, `${machine.name}.log`), env: adapted }) }
}

function postgresNode(machine: Machine, dir: string, text: string, first: string): ClusterNode {
  const home = join(dir, machine.name)
  mkdirSync(home)
  const [uid, gid] = ['-u', '-g'].map((flag) => Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout))
  chownSync(home, uid!, gid!)
  const adapted = text
    .replace('name: pg1', `name: ${machine.name}`)
    .replaceAll(`${first}:`, `${machine.address}:`)
    .replace('/var/lib/postgresql/15/mintmark', join(home, 'data'))
    .replace('/var/lib/postgresql/.pgpass-patroni', join(home, 'pgpass'))
    .replace('/var/run/postgresql', home)
    // The watchdog belongs to the whole machine, not to a namespace.
    .replace('mode: automatic', "mode: 'off'")
  const file = join(home, 'patroni.yml')
  writeFileSync(file, adapted)
  return { machine, start: () => void machine.run('patroni', [file], { log: join(dir, `${machine.name}.log`), user: 'postgres' }) }
}
