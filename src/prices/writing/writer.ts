// Writes prices in the transaction of the import or post: new prices become a history point and the current price, unchanged ones are
// skipped, suspicious ones held.
import { type RawBuilder, sql } from 'kysely'
import { HOUR_MS } from '#core/duration.ts'
import { minorToText, parseMinor } from '#core/money.ts'
import { textOf } from '#core/problems.ts'
import type { Note } from '#db/changes/change.ts'
import { BinaryRows, copyIn } from '#db/copy.ts'
import type { Db, Tx } from '#db/schema.ts'
import { violatedIndex } from '#db/unique.ts'
import { RowBits } from '#index/bits.ts'
import { confidenceIn, CurrentPrices, flagsIn, IDENTICAL, packedVerdict, stateIn } from '../records/current.ts'
import { CurrentChanges } from './current-changes.ts'
import { type Candidate, type Hold, holdOf, type PriceRules } from '../evidence/hold.ts'
import { jumpsOf, type LastPrice, type StatedPrice } from '../evidence/jumps.ts'
import { eachPackedEvidence, packedEvidenceCount } from '../evidence/payload.ts'
import { type Figures, STATES } from '../evidence/types.ts'
import { FIGURE_COLUMNS, figureArrays } from '../records/figures.ts'
import { findIdenticalPrices } from '../judging/identical-prices.ts'
import { evidenceOf, judgePrices, lockJudging, logEvidence, auditSettledDisputes } from '../judging/judge-prices.ts'
import { ensureMonths } from '../records/months.ts'
import { eachPackedPrice, packedCount, packPrices, type PriceChange } from '../records/payload.ts'
import type { PriceBatch } from '../records/price-batch.ts'
import { hasSeveralSources, PriceJudge } from '../judging/price-judge.ts'
import { Statements } from './statements.ts'
import type { PriceCounts } from '../records/types.ts'
import { refreshUsualRatios } from '../judging/usual-ratios.ts'
import { type IsWithdrawn, withdrawnPrices } from './withdrawn-prices.ts'

/** The price that a new one is compared with. */
interface PreviousPrice extends LastPrice {
  updatedAtMs: number
}

/** Below this number of points, a COPY is not worth its round trips. */
const COPY_POINTS = 500
/** With more cards than this, comparing names would take a sixth of an import, so the periodic judging does it instead. */
const MAX_CARDS_BY_NAME = 200_000

/** Writes to one market are serialised, so that prices read for it stay valid until the commit. Merges of items lock all markets. */
export async function lockMarkets(tx: Tx, markets: Iterable<number>): Promise<void> {
  for (const market of [...new Set(markets)].sort((a, b) => a - b)) {
    await sql`select pg_advisory_xact_lock(7307, ${market})`.execute(tx)
  }
}

/** The statements of an import in a market: items by label. A file of a long history states each price many times. */
interface Feed {
  newestMs: number
  items: Map<number, RowBits>
}

/** Writes the prices of one import, batch by batch; call `finish` after the last. */
export class PriceWriter {
  readonly #db: Db
  readonly #tx: Tx
  readonly #note: Note
  readonly #importId: number
  readonly #rules: PriceRules
  readonly #accepted: boolean
  readonly #isReplay: boolean
  readonly #nowMs: number
  #judge: PriceJudge | null = null
  readonly #locked = new Set<number>()
  /** the transaction snapshot before the first price was read */
  #snapshot = ''
  /** items touched; those with prices of several sources; and those whose other prices get a new verdict */
  readonly #touched = new RowBits()
  readonly #several = new RowBits()
  readonly #toJudge = new Set<number>()
  readonly #feeds = new Map<number, Feed>()
  /** number of prices set or confirmed */
  #statements = 0

  /** @param write `accepted`: a person has reviewed the prices, so they are always published; `replay`: repeats statements made at `nowMs` */
  constructor(write: { db: Db; tx: Tx; note: Note; importId: number; rules: PriceRules; accepted?: boolean; replay?: boolean; nowMs: number }) {
    this.#db = write.db
    this.#tx = write.tx
    this.#note = write.note
    this.#importId = write.importId
    this.#rules = write.rules
    this.#accepted = write.accepted ?? false
    this.#isReplay = write.replay ?? false
    this.#nowMs = write.nowMs
  }

  /** Writes a batch of up to tens of thousands of prices; a key may occur with several times, in any order. */
  async write(batch: PriceBatch): Promise<PriceCounts> {
    const { size } = batch
    const { sorted, currents } = await this.#begin(batch)
    await this.#keepStatements(batch, sorted, currents)
    const earlier = await this.#readEarlier(batch, sorted, currents)
    const isWithdrawn = await this.#readWithdrawn(batch, sorted)
    const newest: number[] = []
    const older: number[] = []
    const covering: number[] = []
    const held: number[] = []
    const holds: Hold[] = []
    const changes = new CurrentChanges(currents)
    let created = 0
    let resumed = 0
    let before = -1
    let previous: PreviousPrice | null = null
    /** position of the point at which an interrupted price continues; -1 for none */
    let going = -1
    for (const i of sorted) {
      if (before < 0 || !batch.isSameKey(before, i)) {
        previous = null
        going = -1
      }
      before = i
      const write = batch.at(i)
      const current = currents.find(currents.first(write.itemId), write.market, write.labelId)
      const currentAtMs = current < 0 ? Number.NEGATIVE_INFINITY : currents.updatedAtMs[current]!
      const isCurrent = write.updatedAtMs >= currentAtMs
      const stored = current >= 0 && isCurrent ? knownOf(currents, current) : (earlier.get(i) ?? null)
      const last = later(previous, stored)
      if (last && last.minor === write.minor) {
        if (isCurrent && current >= 0 && !batch.holds.has(i)) this.#confirm(batch, i, currents, current, changes)
        continue
      }
      if (isWithdrawn(write, last?.updatedAtMs ?? null)) continue
      const hold = batch.holds.get(i) ?? this.#holdOf(batch, i, last)
      if (hold) {
        held.push(i)
        holds.push(hold)
        continue
      }
      previous = { ...write, confirmedAtMs: write.updatedAtMs, state: 'trusted', flags: 0, figures: batch.figures.at(i) }
      if (!last && current < 0) created += 1
      if (last?.updatedAtMs === write.updatedAtMs) covering.push(i)
      if (isCurrent && current >= 0 && write.updatedAtMs < currents.confirmedAtMs[current]!) {
        // The current price was stated again later: this one interrupts it, and the current price continues from that time.
        older.push(i)
        const again = batch.addCopy(i, currents.minor[current]!, currents.confirmedAtMs[current]!)
        resumed += 1
        going = again
        newest.push(again)
        this.#set(batch, again, currents, current, changes, currents.figures.at(current))
        continue
      }
      if (going >= 0 && write.updatedAtMs === currentAtMs) {
        // Interrupted again at the exact time at which it would have continued.
        newest.splice(newest.lastIndexOf(going), 1)
        resumed -= 1
        going = -1
      }
      if (write.updatedAtMs > currentAtMs) newest.push(i)
      else older.push(i)
      if (isCurrent) this.#set(batch, i, currents, current, changes, batch.figures.at(i))
    }
    await this.#judgeChanges(batch, currents, changes)
    await this.#cover(batch, covering)
    await this.#insertPoints(batch, newest, older)
    await this.#writeCurrent(batch, currents, changes)
    if (this.#isReplay) await this.#dropHeld(batch, sorted, held)
    const waiting = await this.#insertHeld(batch, held, holds)
    const accepted = newest.length + older.length - resumed
    return { accepted, created, held: waiting, unchanged: size - accepted - waiting }
  }

  /**
   * Judges the written prices against others and others against them; call it once, after all other writes of the transaction.
   * @param whole whether this was a whole file, so that identical figures and usual ratios are updated
   */
  async finish({ whole }: { whole: boolean }): Promise<void> {
    const judge = this.#judge
    if (!judge || this.#touched.size === 0) return
    const tx = this.#tx
    await lockJudging(tx)
    await this.#storeFeeds()
    for (const id of await this.#changedMeanwhile()) if (this.#touched.has(id)) this.#toJudge.add(id)
    // Confirmations are recorded after their prices, so accepted prices are judged again.
    if (this.#accepted) this.#touched.forEach((id) => this.#toJudge.add(id))
    if (whole && this.#several.size > 0) {
      await refreshUsualRatios(tx, judge.conditions)
      this.#several.forEach((id) => this.#toJudge.add(id))
    }
    if (!whole && this.#toJudge.size === 0) return
    await judge.reload(tx)
    if (whole) {
      const marks = await findIdenticalPrices(tx, judge, this.#feeds.keys(), this.#statements <= MAX_CARDS_BY_NAME)
      judge.mark(marks)
      for (const { itemId } of marks) this.#toJudge.add(itemId)
    }
    if (this.#toJudge.size === 0) return
    await judgePrices({ rules: this.#rules, now: () => new Date(this.#nowMs) }, tx, this.#note, this.#toJudge, judge)
  }

  /** Locks the markets and reads the current prices of the items. */
  async #begin(batch: PriceBatch): Promise<{ sorted: number[]; currents: CurrentPrices }> {
    let sorted = batch.sorted()
    await this.#lock(batch, sorted)
    this.#judge ??= await PriceJudge.load(this.#tx, this.#rules, this.#nowMs, this.#isReplay ? this.#importId : null)
    const read = () =>
      CurrentPrices.read(
        this.#tx,
        sorted.map((i) => batch.itemId[i]!),
      )
    let currents = await read()
    // Items may have been merged after the caller looked them up; the locks now block further merges.
    if (currents.survivors.size > 0) {
      batch.replaceItems(currents.survivors)
      sorted = batch.sorted()
      currents = await read()
    }
    return { sorted, currents }
  }

  async #lock({ market }: PriceBatch, positions: readonly number[]): Promise<void> {
    const markets = new Set<number>()
    for (const i of positions) if (!this.#locked.has(market[i]!)) markets.add(market[i]!)
    if (markets.size === 0) return
    await lockMarkets(this.#tx, markets)
    for (const one of markets) this.#locked.add(one)
    if (this.#snapshot !== '') return
    const { rows } = await sql<{ snapshot: string }>`select pg_current_snapshot()::text as snapshot`.execute(this.#tx)
    this.#snapshot = rows[0]!.snapshot
  }

  /** Stored so that the import can be reverted even after later ones. Prices held for an ambiguous item are not statements. */
  async #keepStatements(batch: PriceBatch, sorted: readonly number[], currents: CurrentPrices): Promise<void> {
    if (this.#isReplay || this.#accepted) return
    const positions = batch.holds.size === 0 ? sorted : sorted.filter((i) => !batch.holds.has(i))
    if (positions.length === 0) return
    const payload = Statements.of(batch, positions, currents).pack()
    await this.#tx
      .insertInto('price_statements')
      .values({ import_id: this.#importId, at: new Date(this.#nowMs), payload })
      .execute()
  }

  #holdOf(batch: PriceBatch, i: number, last: PreviousPrice | null): Hold | null {
    if (this.#accepted) return null
    const { minor, updatedAtMs, market } = batch.at(i)
    const noiseMinor = this.#judge!.conditions.noiseMinor[market]!
    const candidate: Candidate = { minor, updatedAtMs, figures: batch.figures.at(i), last, noiseMinor }
    return holdOf(candidate, this.#rules, this.#nowMs)
  }

  /** Makes a price the current one. */
  #set(batch: PriceBatch, i: number, currents: CurrentPrices, current: number, changes: CurrentChanges, figures: Figures | null): void {
    const write = batch.at(i)
    if (current >= 0) changes.remember(current)
    const jumps = current >= 0 ? this.#jumpsOf({ ...write, figures }, currents, current) : 0
    const at = currents.set(current, write)
    changes.confirmed.delete(at)
    changes.remember(at)
    currents.figures.set(at, figures)
    currents.verdict[at] = unjudged(jumps)
    if (changes.setAt.at(-1) === at) {
      changes.set.pop()
      changes.setAt.pop()
    }
    changes.set.push(i)
    changes.setAt.push(at)
    this.#stated(write)
  }

  /** A feed states the current price again: at a later time, or with other figures. An exact repetition changes nothing. */
  #confirm(batch: PriceBatch, i: number, currents: CurrentPrices, at: number, changes: CurrentChanges): void {
    const write = batch.at(i)
    const { minor, updatedAtMs } = write
    const confirmedAtMs = currents.confirmedAtMs[at]!
    if (updatedAtMs < confirmedAtMs || updatedAtMs > this.#nowMs + this.#rules.futureHours * HOUR_MS) return
    const figures = batch.figures.at(i)
    const isOther = figures !== null && !currents.figures.equals(at, figures)
    if (updatedAtMs === confirmedAtMs && !isOther) return
    changes.remember(at)
    const jumps = this.#jumpsOf({ minor, updatedAtMs, figures: figures ?? currents.figures.at(at) }, currents, at)
    // Changed figures are no longer identical to another item's.
    currents.verdict[at] = unjudged(jumps | (isOther ? 0 : currents.verdict[at]! & IDENTICAL))
    if (isOther) currents.figures.set(at, figures)
    currents.confirmedAtMs[at] = updatedAtMs
    if (changes.setAt.at(-1) !== at) changes.confirmed.add(at)
    this.#stated(write)
  }

  /** Evidence against a price that replaces or repeats a current one: bits of flags. */
  #jumpsOf(now: StatedPrice, currents: CurrentPrices, at: number): number {
    return jumpsOf(now, knownOf(currents, at), this.#judge!.conditions.noiseMinor[currents.market(at)]!, this.#rules)
  }

  #stated({ itemId, market, labelId, updatedAtMs }: PriceChange): void {
    this.#statements += 1
    let feed = this.#feeds.get(market)
    if (!feed) this.#feeds.set(market, (feed = { newestMs: updatedAtMs, items: new Map() }))
    feed.newestMs = Math.max(feed.newestMs, updatedAtMs)
    let items = feed.items.get(labelId)
    if (!items) feed.items.set(labelId, (items = new RowBits()))
    items.add(itemId)
  }

  /** Judges the prices about to be written, so that their verdicts are written with them. */
  async #judgeChanges(batch: PriceBatch, currents: CurrentPrices, changes: CurrentChanges): Promise<void> {
    if (changes.before.size === 0) return
    const judge = this.#judge!
    await judge.prepare(this.#tx, currents)
    const take = (itemId: number) => (at: number, verdict: number) => {
      if (changes.before.has(at)) currents.verdict[at] = verdict
      else if (currents.verdict[at] !== verdict) this.#toJudge.add(itemId)
    }
    const judgeOf = (itemId: number, labelId: number) => {
      const partner = judge.partnerOf(labelId)
      judge.judge(currents, itemId, labelId, take(itemId))
      if (partner !== null) judge.judge(currents, itemId, partner, take(itemId))
      this.#touched.add(itemId)
      if (hasSeveralSources(currents, itemId)) this.#several.add(itemId)
    }
    for (const i of changes.set) judgeOf(batch.itemId[i]!, batch.labelId[i]!)
    for (const at of changes.confirmed) judgeOf(currents.itemId(at), currents.labelId(at))
  }

  /** Records the time of the import's newest price in each market; the periods in between determine a source's interval. */
  async #storeFeeds(): Promise<void> {
    if (this.#accepted || this.#feeds.size === 0) return
    const feeds = [...this.#feeds]
    await sql`
      insert into price_feeds (market, import_id, newest, prices)
      select market, ${this.#importId}::int4, to_timestamp(newest_ms / 1000), prices
      from unnest(${feeds.map(([market]) => market)}::int2[], ${feeds.map(([, feed]) => feed.newestMs)}::float8[],
        ${feeds.map(([, feed]) => [...feed.items.values()].reduce((sum, items) => sum + items.size, 0))}::int4[]) as f(market, newest_ms, prices)
      on conflict (market, import_id) do update
        set newest = greatest(price_feeds.newest, excluded.newest), prices = price_feeds.prices + excluded.prices`.execute(this.#tx)
  }

  /** Items whose prices or verdicts other transactions have committed since this writer read its first price. */
  async #changedMeanwhile(): Promise<Set<number>> {
    const { rows } = await sql<{ kind: 'prices' | 'evidence'; payload: Buffer }>`
      select kind, payload from change_log
      where xact >= pg_snapshot_xmin(${this.#snapshot}::pg_snapshot) and not pg_visible_in_snapshot(xact, ${this.#snapshot}::pg_snapshot)
        and xact <> pg_current_xact_id() and kind in ('prices', 'evidence')`.execute(this.#tx)
    const ids = new Set<number>()
    for (const { kind, payload } of rows) {
      if (kind === 'prices') eachPackedPrice(payload, 0, packedCount(payload), ({ itemId }) => ids.add(itemId))
      else eachPackedEvidence(payload, 0, packedEvidenceCount(payload), ({ itemId }) => ids.add(itemId))
    }
    return ids
  }

  /** A person who accepts a price overrides an earlier withdrawal. */
  async #readWithdrawn({ itemId }: PriceBatch, sorted: readonly number[]): Promise<IsWithdrawn> {
    if (this.#accepted) return () => false
    return withdrawnPrices(
      this.#tx,
      sorted.map((i) => itemId[i]!),
    )
  }

  /** For prices older than the current one: the preceding point of the history, by position. */
  async #readEarlier(batch: PriceBatch, sorted: readonly number[], currents: CurrentPrices): Promise<Map<number, PreviousPrice>> {
    const { itemId, market, labelId, updatedAtMs } = batch
    const old = sorted.filter((i) => {
      const current = currents.find(currents.first(itemId[i]!), market[i]!, labelId[i]!)
      return current >= 0 && currents.updatedAtMs[current]! > updatedAtMs[i]!
    })
    const earlier = new Map<number, PreviousPrice>()
    if (old.length === 0) return earlier
    const { rows } = await sql<{ n: number; price: string; at_ms: number }>`
      select g.n::int as n, h.price, (extract(epoch from h.updated_at) * 1000)::float8 as at_ms
      from ${batchTable(batch, old)} cross join lateral (
        select price, updated_at from price_points p
        where p.item_id = g.item_id and p.market = g.market and p.label_id = g.label_id
          and p.updated_at <= to_timestamp(g.at_ms / 1000)
        order by updated_at desc limit 1
      ) h`.execute(this.#tx)
    for (const row of rows) {
      const known = {
        minor: parseMinor(row.price)!,
        updatedAtMs: row.at_ms,
        confirmedAtMs: row.at_ms,
        state: 'trusted' as const,
        flags: 0,
        figures: null,
      }
      earlier.set(old[row.n - 1]!, known)
    }
    return earlier
  }

  /**
   * Adds points to the history.
   * @param newest later than the current price of their key, so normally without an existing point at their time
   * @param older may conflict with an existing point
   */
  async #insertPoints(batch: PriceBatch, newest: number[], older: number[]): Promise<void> {
    if (newest.length + older.length === 0) return
    await ensureMonths(
      this.#db,
      this.#tx,
      [...newest, ...older].map((i) => batch.updatedAtMs[i]!),
    )
    const copied = newest.length >= COPY_POINTS && (await this.#copyPoints(batch, newest))
    await this.#mergePoints(batch, copied ? older : [...newest, ...older])
  }

  async #mergePoints(batch: PriceBatch, points: readonly number[]): Promise<void> {
    if (points.length === 0) return
    await sql`
      insert into price_points (item_id, market, label_id, updated_at, price, import_id)
      select item_id, market, label_id, to_timestamp(at_ms / 1000), price, ${this.#importId}::int4 from ${batchTable(batch, points)}
      on conflict (item_id, market, label_id, updated_at) do update
        set price = excluded.price, import_id = excluded.import_id`.execute(this.#tx)
  }

  /** Adds points by COPY, which takes half as long as an insert with conflict handling. @returns false, having added nothing, on a conflict */
  async #copyPoints({ itemId, market, labelId, updatedAtMs, minor }: PriceBatch, points: readonly number[]): Promise<boolean> {
    const rows = new BinaryRows()
    for (const i of points) {
      rows.begin(6).int4(itemId[i]!).int2(market[i]!).int4(labelId[i]!).time(updatedAtMs[i]!).minor(minor[i]!).int4(this.#importId)
    }
    const copy = 'copy price_points (item_id, market, label_id, updated_at, price, import_id) from stdin (format binary)'
    await sql`savepoint copied_points`.execute(this.#tx)
    try {
      await copyIn(this.#tx, copy, [rows.end()])
      await sql`release savepoint copied_points`.execute(this.#tx)
      return true
    } catch (error) {
      if (violatedIndex(error) === null) throw error
      await sql`rollback to savepoint copied_points`.execute(this.#tx)
      return false
    }
  }

  /** Replaces the point at the same time; the replaced point is kept in case the new one is reverted. */
  async #cover(batch: PriceBatch, points: readonly number[]): Promise<void> {
    if (points.length === 0) return
    await sql`
      insert into hidden_points (import_id, item_id, market, label_id, updated_at, price, withdrawn)
      select p.import_id, g.item_id, g.market, g.label_id, p.updated_at, p.price, false
      from ${batchTable(batch, points)} cross join lateral (
        select h.updated_at, h.price, h.import_id from price_points h
        where h.item_id = g.item_id and h.market = g.market and h.label_id = g.label_id
          and h.updated_at = to_timestamp(g.at_ms / 1000) and h.import_id <> ${this.#importId}::int4
        offset 0
      ) p
      on conflict (import_id, item_id, market, label_id, updated_at) do update
        set price = excluded.price, withdrawn = false`.execute(this.#tx)
  }

  async #writeCurrent(batch: PriceBatch, currents: CurrentPrices, changes: CurrentChanges): Promise<void> {
    if (changes.before.size === 0) return
    const { set, setAt } = changes
    const known: number[] = []
    const fresh: number[] = []
    for (const n of set.keys()) (currents.places[setAt[n]!] === undefined ? fresh : known).push(n)
    const updated = await this.#updateCurrent(batch, currents, pick(set, known), pick(setAt, known))
    const missed = updated < known.length ? [...set.keys()] : fresh
    await this.#upsertCurrent(batch, currents, pick(set, missed), pick(setAt, missed))
    await this.#updateConfirmed(currents, [...changes.confirmed])
    if (set.length > 0) await this.#note.changedPrices(packPrices(set.map((i) => batch.at(i))))
    const changed = [...changes.before.keys()].filter((at) => changes.isNews(at))
    await logEvidence(
      this.#note,
      changed.map((at) => evidenceOf(currents, at, currents.itemId(at), currents.verdict[at]!)),
    )
    const verdicts = changed.map((at) => {
      const [itemId, market, labelId] = [currents.itemId(at), currents.market(at), currents.labelId(at)]
      return { itemId, market, labelId, before: changes.before.get(at)!, verdict: currents.verdict[at]! }
    })
    await auditSettledDisputes(this.#tx, this.#note, verdicts)
  }

  /**
   * Updates current prices by the ctid at which they were read, which takes half as long as by key.
   * @returns their number: fewer than given if another writer has moved some since (the service's own prices are not locked)
   */
  async #updateCurrent(batch: PriceBatch, currents: CurrentPrices, set: readonly number[], ats: readonly number[]): Promise<number> {
    if (set.length === 0) return 0
    const { arrays, columns, set: evidence } = evidenceParts(currents, ats)
    const { numAffectedRows } = await sql`
      update prices p set price = g.price, updated_at = to_timestamp(g.at_ms / 1000), import_id = ${this.#importId}::int4,
        line = g.line, ${evidence}
      from unnest(${placesOf(currents, ats)}::tid[], ${this.#lines(batch, set)}::int4[], ${batch.column('itemId', set)}::int4[],
        ${batch.column('market', set)}::int2[], ${batch.column('labelId', set)}::int4[], ${amounts(batch, set)}::numeric[],
        ${batch.column('updatedAtMs', set)}::float8[]${arrays})
        as g(place, line, item_id, market, label_id, price, at_ms${columns})
      where p.ctid = g.place and p.item_id = g.item_id and p.market = g.market and p.label_id = g.label_id`.execute(this.#tx)
    return Number(numAffectedRows)
  }

  async #upsertCurrent(batch: PriceBatch, currents: CurrentPrices, set: readonly number[], ats: readonly number[]): Promise<void> {
    if (set.length === 0) return
    const columns = sql.raw(`confirmed_at, state, confidence, flags, ${FIGURE_COLUMNS.join(', ')}`)
    await sql`
      insert into prices (item_id, market, label_id, updated_at, price, import_id, line, ${columns})
      select item_id, market, label_id, to_timestamp(at_ms / 1000), price, ${this.#importId}::int4, line,
        to_timestamp(confirmed_ms / 1000), ((verdict >> 16) & 15)::int2, (verdict >> 20)::int2, verdict & 65535, ${sql.raw(FIGURE_COLUMNS.join(', '))}
      from unnest(${this.#lines(batch, set)}::int4[], ${batch.column('itemId', set)}::int4[], ${batch.column('market', set)}::int2[],
        ${batch.column('labelId', set)}::int4[], ${amounts(batch, set)}::numeric[], ${batch.column('updatedAtMs', set)}::float8[],
        ${evidenceArrays(currents, ats)})
        as g(line, item_id, market, label_id, price, at_ms, confirmed_ms, verdict, ${sql.raw(FIGURE_COLUMNS.join(', '))})
      on conflict (item_id, market, label_id) do update
        set price = excluded.price, updated_at = excluded.updated_at, import_id = excluded.import_id, line = excluded.line,
          (${columns}) = (${sql.raw(['confirmed_at', 'state', 'confidence', 'flags', ...FIGURE_COLUMNS].map((name) => `excluded.${name}`).join(', '))})`.execute(
      this.#tx,
    )
  }

  /** Updates the evidence of prices that were only confirmed; those that another writer has moved are found by key. */
  async #updateConfirmed(currents: CurrentPrices, ats: readonly number[]): Promise<void> {
    if (ats.length === 0) return
    const { arrays, columns, set } = evidenceParts(currents, ats)
    const update = async (where: RawBuilder<unknown>) => {
      const { numAffectedRows } = await sql`
        update prices p set ${set}
        from unnest(${placesOf(currents, ats)}::tid[], ${currents.column('itemId', ats)}::int4[], ${currents.column('market', ats)}::int2[],
          ${currents.column('labelId', ats)}::int4[]${arrays})
          as g(place, item_id, market, label_id${columns})
        where ${where} and p.item_id = g.item_id and p.market = g.market and p.label_id = g.label_id`.execute(this.#tx)
      return Number(numAffectedRows)
    }
    if ((await update(sql`p.ctid = g.place`)) < ats.length) await update(sql`true`)
  }

  /** Lines of the file as a PostgreSQL array literal; a price that a person accepted has none. */
  #lines(batch: PriceBatch, positions: readonly number[]): string {
    return this.#accepted ? `{${positions.map(() => 'NULL').join(',')}}` : batch.column('row', positions)
  }

  /** Deletes held prices of the import that no longer need to be held. */
  async #dropHeld(batch: PriceBatch, sorted: readonly number[], held: readonly number[]): Promise<void> {
    const waits = new Set(held)
    const free = sorted.filter((i) => !waits.has(i))
    if (free.length === 0) return
    await sql`
      delete from held_prices h using ${batchTable(batch, free)}
      where (h.item_id, h.market, h.label_id) = (g.item_id, g.market, g.label_id) and h.updated_at = to_timestamp(g.at_ms / 1000)
        and h.import_id = ${this.#importId}::int4 and h.decision is null and h.rule <> 'foreign_id'`.execute(this.#tx)
  }

  /** Inserts held prices, except those already open or discarded. @returns number of new ones */
  async #insertHeld(batch: PriceBatch, held: readonly number[], holds: readonly Hold[]): Promise<number> {
    if (held.length === 0) return 0
    // In a replay, the price may be held for a different reason, or replace a held price of a later import, which is replayed after it.
    const known = this.#isReplay
      ? sql`(item_id, market, label_id, updated_at) where decision is null do update
          set (price, import_id, rule, reason, compared_price, times_off) =
            (excluded.price, excluded.import_id, excluded.rule, excluded.reason, excluded.compared_price, excluded.times_off)
          where held_prices.import_id = excluded.import_id
            or (held_prices.import_id > excluded.import_id and held_prices.rule <> 'foreign_id')`
      : sql`do nothing`
    const { rows } = await sql<{ count: number }>`
      with given as (
        select g.item_id, g.market, g.label_id, to_timestamp(g.at_ms / 1000) as updated_at, g.price, n,
               (${holds.map((h) => h.rule)}::text[])[n] as rule, (${holds.map((h) => JSON.stringify(h.params))}::jsonb[])[n] as params,
               (${holds.map(textOf)}::text[])[n] as reason,
               (${holds.map((h) => (h.compared === null ? null : minorToText(h.compared)))}::numeric[])[n] as compared_price,
               (${holds.map((h) => h.timesOff)}::real[])[n] as times_off
        from ${batchTable(batch, held)}
      ), added as (
        insert into held_prices (item_id, market, label_id, updated_at, price, import_id, rule, reason, compared_price, times_off)
        select item_id, market, label_id, updated_at, price, ${this.#importId}::int4, rule, reason, compared_price, times_off
        from given
        where not exists (
          select from held_prices h
          where h.item_id = given.item_id and h.market = given.market and h.label_id = given.label_id
            and h.updated_at = given.updated_at and h.price = given.price and h.decision = 'discarded'
        )
        on conflict ${known}
        returning id, item_id, market, label_id, updated_at, price
      ), explained as (
        insert into held_price_params (held_price_id, params)
        select id, params from added join given using (item_id, market, label_id, updated_at, price)
        on conflict (held_price_id) do update set params = excluded.params
      )
      select count(*)::int as count from added`.execute(this.#tx)
    return rows[0]!.count
  }
}

/** Prices of a batch as a table, one column each; amounts are passed as exact decimal text. */
function batchTable(batch: PriceBatch, positions: readonly number[]) {
  return sql`unnest(${batch.column('itemId', positions)}::int4[], ${batch.column('market', positions)}::int2[], ${batch.column('labelId', positions)}::int4[],
    ${amounts(batch, positions)}::numeric[], ${batch.column('updatedAtMs', positions)}::float8[])
    with ordinality as g(item_id, market, label_id, price, at_ms, n)`
}

function amounts({ minor }: PriceBatch, positions: readonly number[]): string {
  return `{${positions.map((i) => minorToText(minor[i]!)).join(',')}}`
}

function pick(values: readonly number[], positions: readonly number[]): number[] {
  return positions.map((n) => values[n]!)
}

function placesOf({ places }: CurrentPrices, ats: readonly number[]): string {
  return `{"${ats.map((at) => places[at]!).join('","')}"}`
}

/** SQL parts for the evidence of some prices in a statement over a table `g`: additional arrays, their columns, and the assignments. */
interface EvidenceParts {
  arrays: RawBuilder<unknown>
  columns: RawBuilder<unknown>
  set: RawBuilder<unknown>
}

/** If thousands of prices have the same evidence, as with most feeds, no arrays are needed. */
function evidenceParts(currents: CurrentPrices, ats: readonly number[]): EvidenceParts {
  const { confirmedAtMs, updatedAtMs, verdict } = currents
  const first = verdict[ats[0]!]!
  const isAlike = ats.every((at) => verdict[at] === first && !(confirmedAtMs[at]! > updatedAtMs[at]!))
  const figures = currents.figures.isEmpty ? [] : FIGURE_COLUMNS
  const names = [...(isAlike ? [] : ['confirmed_ms', 'verdict']), ...figures]
  const confirmed = isAlike ? '' : `{${ats.map((at) => (confirmedAtMs[at]! > updatedAtMs[at]! ? confirmedAtMs[at]! : 'NULL')).join(',')}}`
  const verdicts = isAlike ? '' : `{${ats.map((at) => verdict[at]!).join(',')}}`
  const [state, confidence, flags] = isAlike
    ? [stateIn(first), confidenceIn(first), flagsIn(first)].map(String)
    : ['((g.verdict >> 16) & 15)::int2', '(g.verdict >> 20)::int2', 'g.verdict & 65535']
  const set = [
    `confirmed_at = ${isAlike ? 'null' : 'to_timestamp(g.confirmed_ms / 1000)'}, state = ${state}, confidence = ${confidence}, flags = ${flags}`,
    ...figures.map((name) => `${name} = g.${name}`),
  ]
  return {
    arrays: sql`${isAlike ? sql`` : sql`, ${confirmed}::float8[], ${verdicts}::int4[]`}${figures.length === 0 ? sql`` : sql`, ${figureArrays(currents.figures, ats)}`}`,
    columns: sql.raw(names.map((name) => `, ${name}`).join('')),
    set: sql.raw(set.join(', ')),
  }
}

/** All evidence columns, for prices that may be new. */
function evidenceArrays(currents: CurrentPrices, ats: readonly number[]): RawBuilder<unknown> {
  const { confirmedAtMs, updatedAtMs, verdict } = currents
  const confirmed = ats.map((at) => (confirmedAtMs[at]! > updatedAtMs[at]! ? confirmedAtMs[at]! : 'NULL'))
  const arrays = sql`${`{${confirmed.join(',')}}`}::float8[], ${`{${ats.map((at) => verdict[at]!).join(',')}}`}::int4[]`
  return sql`${arrays}, ${figureArrays(currents.figures, ats)}`
}

/** The verdict of a price that is not judged yet. */
function unjudged(flags: number): number {
  return flags === 0 ? 0 : packedVerdict(STATES.indexOf('disputed'), 0, flags)
}

function knownOf(currents: CurrentPrices, at: number): PreviousPrice {
  return {
    minor: currents.minor[at]!,
    updatedAtMs: currents.updatedAtMs[at]!,
    confirmedAtMs: currents.confirmedAtMs[at]!,
    state: STATES[stateIn(currents.verdict[at]!)]!,
    flags: flagsIn(currents.verdict[at]!),
    figures: currents.figures.at(at),
  }
}

function later(a: PreviousPrice | null, b: PreviousPrice | null): PreviousPrice | null {
  if (!a || !b) return a ?? b
  return b.updatedAtMs > a.updatedAtMs ? b : a
}
