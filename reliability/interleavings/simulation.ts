// Runs writes concurrently, one message to the database at a time, in the order that a schedule chooses.
import { join } from 'node:path'
import type { Db, Schema } from '#db/schema.ts'
import { openPool } from '#db/connection/pool.ts'
import { Baseline, normalisedText } from './baseline.ts'
import { EMPTY, ending, Footprints, nothing, touch, type Touched, undoing } from './footprint.ts'
import type { Rewrite } from './messages.ts'
import { type Connection, MessageProxy, type Reply } from './proxy.ts'
import { type Action, type Choose, type Outcome, outcomeOf, type Played, type Step } from './schedule.ts'
import { realPause, withDelays } from './time.ts'
import { type Market, openWorld, sqlOf, type World } from './world.ts'
import { type Request, send } from './writes.ts'

interface Actor {
  proxy: MessageProxy
  db: Db
  state: 'idle' | 'working' | 'held' | 'sent' | 'waiting' | 'delayed' | 'unanswered'
  connection: Connection | null
  endDelay: (() => void) | null
  /** by the open transaction */
  touched: Touched
  isInTransaction: boolean
  /** whether an error has ended the transaction but for its rollback */
  hasFailed: boolean
  /** of its request */
  key: string
  outcome: Outcome | null
  /** the step whose answer is outstanding */
  step: Step | null
}

const NO_TRANSACTION = () => ({ touched: nothing(), isInTransaction: false, hasFailed: false })
const ACTORS = 3
const QUIET_MS = 1
const PATIENT_MS = 200
/** Longer than the server takes to look for a deadlock. */
const DEADLOCK_MS = 3
const STUCK_MS = 20_000

export class Simulation {
  readonly world: World
  readonly baseline: Baseline
  readonly #footprints: Footprints
  #actors: Actor[] = []
  readonly #dir: string
  readonly #nodeProxy: MessageProxy
  /** tables that were written since the last reset */
  readonly #dirty = new Set<string>()
  #wake: () => void = () => {}
  #rewrite: Rewrite = (text) => text
  #opened = 0
  readonly marks = new Map<string, number>()

  static async open(dir: string): Promise<Simulation> {
    const events = { held: (connection: Connection) => connection.release(), replied: () => {}, closed: () => {} }
    let rewriteNode: Rewrite = (text) => text
    let nodeProxy: MessageProxy | null = null
    const world = await openWorld(dir, async (server) => {
      nodeProxy = await MessageProxy.open(join(dir, 'node'), server, events, (text) => rewriteNode(text))
      return nodeProxy.url
    })
    const simulation = new Simulation(world, nodeProxy!, dir, await Baseline.take(world.db), await Footprints.read(world.db))
    rewriteNode = (text) => simulation.#rewrite(text)
    await simulation.baseline.restore(simulation.baseline.tables)
    await simulation.#openActors()
    return simulation
  }

  private constructor(world: World, nodeProxy: MessageProxy, dir: string, baseline: Baseline, footprints: Footprints) {
    this.world = world
    this.#nodeProxy = nodeProxy
    this.#dir = dir
    this.baseline = baseline
    this.#footprints = footprints
  }

  mark(name: string): void {
    this.marks.set(name, (this.marks.get(name) ?? 0) + 1)
  }

  /** From now on, statements are rewritten; connections are new, because statements are prepared. */
  async rewrite(rewrite: Rewrite): Promise<void> {
    this.#rewrite = rewrite
    for (const connection of this.#nodeProxy.connections) connection.cut()
    await this.#openActors()
  }

  async close(): Promise<void> {
    await this.#closeActors()
    await this.world.close()
    this.#nodeProxy.close()
  }

  async #openActors(): Promise<void> {
    await this.#closeActors()
    this.#actors = []
    for (let n = 0; n < ACTORS; n++) {
      this.#opened += 1
      const dir = join(this.#dir, `actor-${this.#opened}`)
      const events = {
        held: (connection: Connection) => this.#held(actor, connection),
        replied: (connection: Connection, reply: Reply) => this.#replied(actor, connection, reply),
        closed: (connection: Connection) => this.#closed(actor, connection),
      }
      const proxy = await MessageProxy.open(dir, this.world.socket, events, (text) => this.#rewrite(text))
      const patient = { patienceMs: 600_000, connectTimeoutMs: 60_000 }
      const db = openPool<Schema>({ url: proxy.url, max: 1, applicationName: `actor ${n}`, ...patient })
      const actor: Actor = { proxy, db, state: 'idle', connection: null, endDelay: null, ...NO_TRANSACTION(), key: '', outcome: null, step: null }
      this.#actors.push(actor)
    }
  }

  async #closeActors(): Promise<void> {
    for (const actor of this.#actors) {
      actor.proxy.close()
      await actor.db.close().catch(() => {})
    }
  }

  /** Runs the requests concurrently on the current state. */
  async play(requests: readonly Request[], choose: Choose): Promise<Played> {
    const actors = this.#actors.slice(0, requests.length)
    const steps: Step[] = []
    requests.forEach((request, i) => this.#begin(actors[i]!, request))
    for (;;) {
      await this.#settle(actors)
      const enabled = actors.flatMap(({ state }, i) => (state === 'held' || state === 'delayed' ? [i] : []))
      if (enabled.length === 0) {
        if (actors.every(({ state }) => state === 'idle')) break
        throw new Error(`Stuck: ${actors.map(({ state }) => state).join(', ')}\n${steps.map(({ who, text }) => `${who} ${text}`).join('\n')}`)
      }
      const next = new Map(enabled.map((i) => [i, actors[i]!.connection?.heldText ?? '']))
      const { who, action = 'pass' } = choose(enabled, next, steps)
      steps.push(await this.#take(actors[who]!, who, action, enabled))
    }
    return { steps, outcomes: actors.map(({ outcome }) => outcome!) }
  }

  /** Puts the database and the node's memory back. */
  async reset(): Promise<void> {
    const written = [...this.#dirty]
    this.#dirty.clear()
    await this.baseline.restore(written)
    await this.#refreshNode(written)
  }

  /** Tables that something beside the requests has written. */
  wrote(tables: readonly string[]): void {
    for (const table of tables) this.#dirty.add(table)
  }

  /** Tables that may have changed since the last reset. */
  get written(): string[] {
    return [...this.#dirty]
  }

  async #refreshNode(written: readonly string[]): Promise<void> {
    const { node, market } = this.world
    const items = [market.item, market.twin]
    const changes = Object.entries(IN_MEMORY).flatMap(([kind, { tables, idsOf }]) =>
      written.some((table) => tables.includes(table))
        ? [{ seq: 0, kind: kind as keyof typeof IN_MEMORY, ids: idsOf(market, items), payload: null }]
        : [],
    )
    await node.catalogue.apply(changes)
    await node.listings.apply(changes)
  }

  #begin(actor: Actor, request: Request): void {
    actor.state = 'working'
    actor.outcome = null
    Object.assign(actor, NO_TRANSACTION())
    actor.key = `${request.write.name} ${request.n}`
    const onDelay = (end: () => void) => {
      actor.state = 'delayed'
      actor.endDelay = end
      this.#wake()
    }
    const { world } = this
    const ctx = (viewer: Parameters<World['ctx']>[1]) => world.ctx(actor.db, viewer)
    withDelays(onDelay, () => send(request, { ctx, db: actor.db, market: world.market })).then(
      (value) => this.#end(actor, { kind: 'done', text: normalisedText(value) }),
      (error: unknown) => this.#end(actor, outcomeOf(error)),
    )
  }

  #end(actor: Actor, outcome: Outcome): void {
    actor.state = 'idle'
    actor.outcome = outcome
    actor.connection = null
    this.#wake()
  }

  #held(actor: Actor, connection: Connection): void {
    const text = connection.heldText!
    // No other write sees the start of a transaction, and messages after the end of a write do not belong to it.
    if (text === 'begin') actor.isInTransaction = true
    if (actor.state === 'idle' || text === 'begin') return connection.release()
    actor.state = 'held'
    actor.connection = connection
    this.#wake()
  }

  #replied(actor: Actor, connection: Connection, { tags, error, status }: Reply): void {
    if (connection !== actor.connection || !actor.step) return
    const { step } = actor
    const waited = step.result === 'waits'
    const result = error ?? `ok ${tags.join(', ')}`
    step.result = waited ? `waits, then ${result}` : result
    const { touched } = actor
    touch(touched, step.footprint)
    if (error !== null || /^rollback$/i.test(step.text)) step.footprint = undoing(step.footprint, actor.hasFailed ? nothing() : touched)
    else if (status === 'I') step.footprint = ending(step.footprint, touched)
    actor.hasFailed = status === 'E'
    if (status === 'I') Object.assign(actor, NO_TRANSACTION())
    actor.isInTransaction = status !== 'I'
    actor.step = null
    // Of a lost answer, the client learns when the connection ends.
    actor.state = connection.dropsReply ? 'unanswered' : 'working'
    if (!connection.dropsReply) actor.connection = null
    if (waited) this.mark('a write waits for another')
    if (error === '40P01') this.mark('a deadlock is retried')
    this.#wake()
  }

  #closed(actor: Actor, connection: Connection): void {
    if (connection !== actor.connection) return
    actor.connection = null
    actor.step = null
    actor.state = 'working'
    this.#wake()
  }

  async #take(actor: Actor, who: number, action: Action, enabled: number[]): Promise<Step> {
    if (actor.state === 'delayed') {
      this.mark('a write is tried again')
      actor.state = 'working'
      actor.endDelay!()
      return { who, action: 'pass', text: 'delay', values: '', result: 'ok', footprint: EMPTY, enabled }
    }
    const connection = actor.connection!
    const text = connection.heldText!
    const values = connection.heldValues
    const inside = this.#footprints.of(text, values, actor.key)
    const footprint = actor.isInTransaction ? inside : ending(inside, nothing())
    for (const table of footprint.writes) this.#dirty.add(table.split(' ')[0]!)
    const step: Step = { who, action, text, values, result: '', footprint, enabled }
    actor.step = step
    const { backend } = connection
    if (action === 'lose request') connection.cut()
    else if (action === 'terminate') {
      actor.state = 'unanswered'
      await sqlOf(this.world.db, 'select pg_terminate_backend($1)', [backend])
    } else {
      actor.state = 'sent'
      connection.dropsReply = action === 'lose answer'
      connection.release()
    }
    if (action === 'pass') return step
    await this.#settle(this.#actors)
    if (action === 'lose answer') {
      // A server process that waits for a lock would not notice that its client has gone.
      if (actor.state !== 'unanswered') await sqlOf(this.world.db, 'select pg_terminate_backend($1)', [backend])
      connection.cut()
    }
    step.result = action
    step.footprint = ending(footprint, actor.touched)
    await this.#backendEnds(backend)
    // Otherwise the client would learn of it at a moment of its own.
    connection.cut()
    return step
  }

  async #backendEnds(backend: number): Promise<void> {
    while ((await sqlOf(this.world.db, 'select 1 from pg_stat_activity where pid = $1', [backend])).length > 0) await realPause(QUIET_MS)
  }

  /** Returns once every write waits: for its next step, for another write, or for nothing any more. */
  async #settle(actors: readonly Actor[]): Promise<void> {
    const startedMs = performance.now()
    for (const actor of actors) if (actor.state === 'waiting') actor.state = 'sent'
    let quiet = false
    let quietMs = QUIET_MS
    for (;;) {
      if (performance.now() - startedMs > STUCK_MS) throw new Error(`Not settled: ${actors.map(({ state }) => state).join(', ')}`)
      const woken = new Promise<void>((resolve) => (this.#wake = resolve))
      if (actors.some(({ state }) => state === 'working')) {
        await Promise.race([woken, realPause(1_000)])
        continue
      }
      const sent = actors.filter(({ state }) => state === 'sent')
      if (sent.length > 0) {
        // Only the open transaction of another write can make one wait. On a busy machine, asking costs more than the answer.
        const canWait = sent.some((one) => actors.some((other) => other !== one && other.isInTransaction))
        const event = await Promise.race([woken.then(() => true), realPause(canWait ? quietMs : PATIENT_MS).then(() => false)])
        if (event) continue
        quiet = (await this.#findWaiting(sent)) || quiet
        quietMs *= 2
        continue
      }
      if (!quiet) return
      quiet = false
      // Let the server look for a deadlock that the last step may have closed.
      await Promise.race([woken, realPause(DEADLOCK_MS)])
      for (const actor of actors) if (actor.state === 'waiting') actor.state = 'sent'
      await this.#findWaiting(actors.filter(({ state }) => state === 'sent'))
    }
  }

  /** Marks those of the writes that wait for others. @returns whether any does */
  async #findWaiting(sent: readonly Actor[]): Promise<boolean> {
    if (sent.length === 0) return false
    const rows = await sqlOf(this.world.db, 'select pid, pg_blocking_pids(pid) as by from unnest($1::int4[]) as pid', [
      sent.map(({ connection }) => connection?.backend ?? 0),
    ])
    const waiting = new Set(rows.flatMap(({ pid, by }) => ((by as number[]).length > 0 ? [pid as number] : [])))
    let found = false
    for (const actor of sent) {
      if (actor.state !== 'sent' || !actor.connection || !waiting.has(actor.connection.backend)) continue
      actor.state = 'waiting'
      actor.step!.result = 'waits'
      found = true
    }
    return found
  }
}

/** What a node holds in memory of each kind of change, by the tables that it is read from. */
const IN_MEMORY = {
  items: { tables: ['items', 'prices', 'item_aliases', 'merges'], idsOf: (_market: Market, items: number[]) => items },
  accounts: { tables: ['accounts', 'vacations'], idsOf: ({ seller, other }: Market) => [seller, other] },
  listings: { tables: ['listings'], idsOf: ({ last, stock, rejected, due, ofOther }: Market) => [last, stock, rejected, due, ofOther] },
  sales: { tables: ['sales', 'sale_cancellations'], idsOf: (_market: Market, items: number[]) => items },
}
