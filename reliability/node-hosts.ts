// Hosts for the nodes of a run: each in its own network namespace, or as processes on one host if namespaces are not permitted.
import { execFileSync, spawnSync } from 'node:child_process'
import { openNetworkProxy, type NetworkProxy } from './network-proxy.ts'

export interface NodeHost {
  describe: string
  /** command prefix of its programs */
  command: string[]
  /** address of its listeners */
  host: string
  /** its address for the database and everything that is disconnected together with the database */
  databaseHost: string
  databasePort: number
  /** its address for receivers of webhooks */
  receiverHost: string
  /** Drops its packets to the database silently until `heal`. */
  partition: () => void
  heal: () => void
  remove: () => Promise<void>
}

/** Three hosts that reach the database at `databasePort` of this machine. */
export async function openNodeHosts(databasePort: number): Promise<NodeHost[]> {
  return Promise.all([1, 2, 3].map((n) => (canUseNamespaces() ? namespaced(n, databasePort) : withoutNamespace(databasePort))))
}

/** One host in its own namespace; requires `canUseNamespaces` and a database that listens on all addresses. */
export function openNodeHost(databasePort: number): Promise<NodeHost> {
  return namespaced(1, databasePort)
}

export function canUseNamespaces(): boolean {
  return process.getuid?.() === 0 && spawnSync('unshare', ['--net', 'true']).status === 0 && spawnSync('ip', ['netns']).status === 0
}

async function namespaced(n: number, databasePort: number): Promise<NodeHost> {
  const name = `mintmark-${process.pid}-${n}`
  const [outer, inner] = [`mm${process.pid % 100_000}o${n}`, `mm${process.pid % 100_000}i${n}`]
  // Different addresses than the previous run, whose addresses take seconds to disappear.
  const net = `10.77.${(process.pid % 80) * 3 + n}`
  const ip = (...args: string[]) => execFileSync('ip', args, { stdio: 'pipe' })
  const inside = (...args: string[]) => ip('netns', 'exec', name, 'ip', ...args)
  ip('netns', 'add', name)
  const remove = () => void spawnSync('ip', ['netns', 'del', name])
  process.once('exit', remove)
  ip('link', 'add', outer, 'type', 'veth', 'peer', 'name', inner, 'netns', name)
  ip('address', 'add', `${net}.1/24`, 'dev', outer)
  ip('address', 'add', `${net}.3/24`, 'dev', outer)
  ip('link', 'set', outer, 'up')
  inside('address', 'add', `${net}.2/24`, 'dev', inner)
  inside('link', 'set', inner, 'up')
  inside('link', 'set', 'lo', 'up')
  // Everything except the database uses the other address, so that the database alone can be disconnected.
  inside('route', 'add', 'default', 'via', `${net}.3`)
  return {
    describe: 'network namespaces',
    command: ['ip', 'netns', 'exec', name, process.execPath],
    host: `${net}.2`,
    databaseHost: `${net}.1`,
    databasePort,
    receiverHost: `${net}.3`,
    // An unused hardware address: packets are neither refused nor answered.
    partition: () => inside('neighbour', 'replace', `${net}.1`, 'lladdr', '02:00:00:00:00:99', 'dev', inner, 'nud', 'permanent'),
    heal: () => inside('neighbour', 'del', `${net}.1`, 'dev', inner),
    remove: async () => remove(),
  }
}

async function withoutNamespace(databasePort: number): Promise<NodeHost> {
  const proxy: NetworkProxy = await openNetworkProxy({ host: '127.0.0.1', port: databasePort })
  return {
    describe: 'processes on one host',
    command: [process.execPath],
    host: '127.0.0.1',
    databaseHost: '127.0.0.1',
    databasePort: proxy.port,
    receiverHost: '127.0.0.1',
    partition: () => proxy.drop('all'),
    heal: () => proxy.restore(),
    remove: () => proxy.close(),
  }
}
