// `node bench/peers.ts tcgdex=http://127.0.0.1:3000,4711`: measures our node and other servers in turn with requests for the same cards.
import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { Command, InvalidArgumentError } from 'commander'
import { sql } from 'kysely'
import type { Db } from '#db/schema.ts'
import { answerTo, spread } from './answers.ts'
import { medians } from './compare.ts'
import { startDatabaseServer } from './database.ts'
import { CONNECTIONS, type LoadFigures, measure, writeRequests } from './load.ts'
import { cpuMicros, idle, pinProcess, proportionalMb, SERVER_CORE, startNode, treeOf } from './processes.ts'
import { shuffled } from './random.ts'
import { importRealData } from './real-data.ts'
import { show, whole } from './tables.ts'

interface Peer {
  name: string
  url: string
  /** processes that were started for this server, including its database; their descendants are measured, too */
  pids: number[]
  key: string
  headers: Record<string, string>
  /** text that a list contains once for each entry */
  entry: string
  /** its own ids by TCGdex id */
  ids: Record<string, string>
  /** requests with `{card}` (TCGdex id), `{id}` (own id), `{page}`, `{offset}` and `{word}`: paths, or lines of a requests file */
  paths: Record<Request, string>
  slow: Partial<Record<Request, boolean>>
}

type Card = Record<'card' | 'id' | 'name', string>
type Options = Record<'seconds' | 'rounds', number> & { only: string[]; markdown: boolean }
type Request = 'card' | 'page' | 'search'

interface Kind {
  title: string
  request: Request
  values: (Card | Record<string, string>)[]
  /** whether all requests are sent before the measurement */
  warm: boolean
}

const CARDS = 400
const PAGES = 100
const PER_PAGE = 20
const WORDS = 100
/** More than our caches hold. */
const FRESH = 12_000
const CHECKED = 40
/** A server with fewer responses a second is measured this many times as long. */
const SLOW = 20
const LONGER = 4
const PEERS = JSON.parse(readFileSync(new URL('peers.json', import.meta.url), 'utf8')) as Record<string, Pick<Peer, 'headers' | 'entry' | 'paths'>>
const set = new Map<string, string>()
const rate = (value: number) => (value < 100 ? value.toFixed(1) : whole(value))
const ask = (peer: Peer, request: string) => answerTo(peer, peer.key, request, peer.headers)

const command = new Command('bench peers')
  .description('Measures our node and other servers in turn; start each of them on the first core before')
  .argument('<peers...>', 'servers as name=url,pid,pid: names of bench/peers.json, processes of the server and of its database')
  .option('--set <name=value>', 'value of a placeholder of bench/peers.json (can be repeated)', setting)
  .option('--ids <name=file>', 'JSON file of the own ids of a server by TCGdex id (can be repeated)', setting)
  .option('--only <kinds>', 'kinds of requests: card, page, search, new', (text) => text.split(','), ['card', 'page', 'search', 'new'])
  .option('--seconds <n>', 'seconds per round', Number, 6)
  .option('--rounds <n>', 'rounds per server and kind', Number, 3)
  .option('--markdown', 'print the table in Markdown', false)
  .parse()
await run(command.args.map(peerOf), command.opts())

function setting(text: string): void {
  const [, name, value] = /^([^=]+)=(.+)$/.exec(text) ?? []
  if (!name || !value) throw new InvalidArgumentError('It must be name=value.')
  set.set(name, value)
}

function peerOf(text: string): Peer {
  const [, name = '', url, pids = ''] = /^(\w+)=(http:\/\/[^,]+)((?:,\d+)*)$/.exec(text) ?? []
  const described = PEERS[name]
  if (!url || !described) throw new Error(`${text} must be name=url,pid,pid with a name of bench/peers.json: ${Object.keys(PEERS).join(', ')}`)
  const ids = set.has(name) ? (JSON.parse(readFileSync(set.get(name)!, 'utf8')) as Record<string, string>) : {}
  const headers = Object.fromEntries(Object.entries(described.headers).map(([header, value]) => [header, filled(value, {})]))
  return { ...described, headers, name, url, pids: pids.split(',').filter(Boolean).map(Number), key: '', ids, slow: {} }
}

async function run(others: Peer[], options: Options): Promise<void> {
  const server = await startDatabaseServer()
  try {
    const database = await server.create('bench')
    await importRealData(database.ctx, ({ file }) => console.error(`imported ${file}`))
    pinProcess(server.pid, SERVER_CORE)
    const node = await startNode(database.url)
    const cards = await cardsOf(database.ctx.db)
    const own = { name: 'Mintmark', url: node.url, pids: [node.pid, server.pid], key: database.accounts.professional.key }
    const ours: Peer = { ...PEERS['mintmark']!, ...own, ids: Object.fromEntries(cards.map(({ card, id }) => [card, id])), slow: {} }
    const [peers, rows]: [Peer[], string[][]] = [[ours, ...others], []]
    for (const kind of kindsOf(cards, peers, options.only)) rows.push(...(await compareKind(kind, peers, server.dir, options)))
    await node.stop()
    await database.close()
    const head = ['Request', 'Server', 'Requests/s', 'p50 ms', 'p99 ms', 'CPU µs', 'Bytes', 'Memory MB']
    const title = `${CONNECTIONS} connections, servers and databases on one core (${cpus()[0]!.model}, Node ${process.version})`
    console.log(show({ title, head, rows, words: 2 }, options.markdown))
  } finally {
    await server.close()
  }
}

/** Measures the servers in turn, several rounds each; slow ones for longer, so that each connection gets several responses. */
async function compareKind(kind: Kind, peers: Peer[], dir: string, { seconds, rounds }: Options): Promise<string[][]> {
  const measured = new Map(peers.map((peer) => [peer, [] as LoadFigures[]]))
  const [bytes, files] = [new Map<Peer, number>(), new Map<Peer, string>()]
  for (const peer of peers) {
    const requests = kind.values.map((values) => filled(peer.paths[kind.request], { ...values, id: peer.ids[values['card'] ?? ''] ?? '' }))
    files.set(peer, writeRequests(dir, `${peer.name}-${kind.request}`, requests))
    if (!kind.warm) continue
    bytes.set(peer, await check(kind, peer, requests))
    const parts = Array.from({ length: CONNECTIONS }, (_, first) => requests.filter((_request, i) => i % CONNECTIONS === first))
    const started = performance.now()
    await Promise.all(parts.map((part) => part.reduce((before, request) => before.then(() => ask(peer, request)), Promise.resolve<unknown>(null))))
    const slow = requests.length / (performance.now() - started) < SLOW / 1_000
    peer.slow[kind.request] = slow
    if (!slow) await measureTree(peer, files.get(peer)!, 1)
  }
  for (let round = 0; round < (kind.warm ? rounds : 1); round += 1) {
    for (const peer of peers) {
      const figures = await measureTree(peer, files.get(peer)!, seconds * (peer.slow[kind.request] ? LONGER : 1))
      const { requestsPerSecond, p50, p99, cpuMicros: cpu } = figures
      console.error(`${kind.title}: ${peer.name} ${rate(requestsPerSecond)} requests/s, p50 ${p50} ms, p99 ${p99} ms, CPU ${whole(cpu)} µs`)
      measured.get(peer)!.push(figures)
    }
  }
  return peers.map((peer) => {
    const { requestsPerSecond, p50, p99, cpuMicros: cpu } = medians(measured.get(peer)!)
    const memory = whole(treeOf(peer.pids).reduce((sum, pid) => sum + proportionalMb(pid), 0))
    return [kind.title, peer.name, rate(requestsPerSecond), p50.toFixed(2), p99.toFixed(2), whole(cpu), whole(bytes.get(peer) ?? 0), memory]
  })
}

/**
 * Checks some responses.
 * @returns their mean size
 * @throws Error if one is not a success, or if more than a tenth has not the content that the request demands
 */
async function check({ request, values }: Kind, peer: Peer, requests: string[]): Promise<number> {
  const [sizes, wrong]: [number[], string[]] = [[], []]
  for (const i of spread([...requests.keys()], CHECKED)) {
    const { status, text, bytes } = await ask(peer, requests[i]!)
    const entries = text.split(peer.entry).length - 1
    const right = request === 'card' ? text.includes(String(values[i]!['name'])) : request === 'page' ? entries === PER_PAGE : entries > 0
    sizes.push(bytes)
    if (status !== 200 || !right) wrong.push(`${peer.name} ${requests[i]}: ${status} ${text.slice(0, 300)}`)
  }
  if (wrong.length > sizes.length / 10) throw new Error(wrong.join('\n'))
  return sizes.reduce((sum, size) => sum + size, 0) / sizes.length
}

async function measureTree({ url, pids, key, headers }: Peer, requestsFile: string, seconds: number): Promise<LoadFigures> {
  const processes = treeOf(pids)
  const used = () => processes.reduce((sum, pid) => sum + (cpuMicros(pid) || 0), 0)
  const before = used()
  const figures = await measure({ url, key, headers, requestsFile }, seconds)
  const cpu = (used() - before) / figures.requests
  await idle(processes)
  return { ...figures, cpuMicros: cpu }
}

function filled(template: string, values: Record<string, string>): string {
  return template.replaceAll(/\{([\w-]+)\}/g, (placeholder, name: string) => {
    const value = values[name] ?? set.get(name)
    if (value === undefined) throw new Error(`--set ${name}=… is missing for ${placeholder} in ${template}`)
    return value
  })
}

/** Cards with an item of theirs, by TCGdex id. */
async function cardsOf(db: Db): Promise<Card[]> {
  const { rows } = await sql<Card>`
    select f.foreign_id as card, min(i.id)::text as id, min(i.name) as name from item_foreign_ids f join items i on i.id = f.item_id
    where f.source = 'tcgdex' and i.name ~ '^[A-Za-z ]+$' group by 1 order by md5(f.foreign_id)`.execute(db.kysely)
  return rows
}

/** Requests for cards that all servers have, for pages of lists, and for words of these cards' names. */
function kindsOf(cards: Card[], peers: Peer[], only: string[]): Kind[] {
  const shared = cards.filter(({ card }) => peers.every(({ ids }) => Object.keys(ids).length === 0 || card in ids))
  const words = shuffled([...new Set(shared.flatMap(({ name }) => name.toLowerCase().split(' ')).filter((word) => word.length > 2))])
  const searched = words.slice(0, WORDS)
  const beginnings = shuffled([...new Set(words.flatMap((word) => [...word].map((_, i) => word.slice(0, i + 3))))])
  const pairs = words.flatMap((word, i) => beginnings.slice(i, i + 20).map((beginning) => `${word}%20${beginning}`))
  const fresh = [...beginnings.filter((word) => !searched.includes(word)), ...pairs].slice(0, FRESH)
  const pages = Array.from({ length: PAGES }, (_, page) => ({ page: String(page + 1), offset: String(page * PER_PAGE) }))
  const kinds: Record<string, Kind> = {
    card: { title: 'One card', request: 'card', values: shared.slice(0, CARDS), warm: true },
    page: { title: `List page of ${PER_PAGE}, pages 1-${PAGES}`, request: 'page', values: shuffled(pages), warm: true },
    search: { title: `Search, ${searched.length} words`, request: 'search', values: searched.map((word) => ({ word })), warm: true },
    new: { title: `Search, ${fresh.length} texts, none repeated soon`, request: 'search', values: fresh.map((word) => ({ word })), warm: false },
  }
  return only.map((name) => kinds[name]!)
}
