// Where the nodes of a run live: each in a network namespace of its own, or side by side on the host if that is not permitted.
import { execFileSync, spawnSync } from 'node:child_process'
import { openWire, type Wire } from './wire.ts'

export interface Place {
  describe: string
  /** command prefix of its programs */
  command: string[]
  /** address of its listeners */
  host: string
  /** its address for the database and everything else that is disconnected with it */
  databaseHost: string
  databasePort: number
  /** its address for receivers of webhooks */
  receiverHost: string
  /** Drops its packets to the database silently until `heal`. */
  partition: () => void
  heal: () => void
  remove: () => Promise<void>
}

/** Three places, which all reach the database at `databasePort` of this machine. */
export async function openPlaces(databasePort: number): Promise<Place[]> {
  return Promise.all([1, 2, 3].map((n) => (mayNamespace() ? namespaced(n, databasePort) : beside(databasePort))))
}

/** One place in a namespace of its own if `mayNamespace`; the database listens on all addresses. */
export function openPlace(databasePort: number): Promise<Place> {
  return namespaced(1, databasePort)
}

export function mayNamespace(): boolean {
  return process.getuid?.() === 0 && spawnSync('unshare', ['--net', 'true']).status === 0 && spawnSync('ip', ['netns']).status === 0
}

async function namespaced(n: number, databasePort: number): Promise<Place> {
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

async function beside(databasePort: number): Promise<Place> {
  const wire: Wire = await openWire({ host: '127.0.0.1', port: databasePort })
  return {
    describe: 'processes beside each other',
    command: [process.execPath],
    host: '127.0.0.1',
    databaseHost: '127.0.0.1',
    databasePort: wire.port,
    receiverHost: '127.0.0.1',
    partition: () => wire.swallow('all'),
    heal: () => wire.pass(),
    remove: () => wire.close(),
  }
}
