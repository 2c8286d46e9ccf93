// Writes prices in the transaction of the import or post: new prices become a history point and the current price, unchanged ones are
// skipped, suspicious ones held.
import { sql } from 'kysely'
import { HOUR_MS } from '#core/duration.ts'
import type { Tx } from '#db/schema.ts'
import { RowBits } from '#index/bits.ts'
import { CurrentPrices, FROZEN, IDENTICAL, packedVerdict } from '../records/current.ts'
import { CurrentChanges } from './current-changes.ts'
import { type Candidate, type Hold, holdOf, type PriceRules } from '../evidence/hold.ts'
import { jumpsOf, type StatedPrice } from '../evidence/jumps.ts'
import { eachPackedEvidence, packedEvidenceCount } from '../evidence/evidence-payload.ts'
import { type Figures, STATES } from '../evidence/evidence-types.ts'
import { findIdenticalPrices } from '../judging/identical-prices.ts'
import { judgePrices, lockJudging } from '../judging/judge-prices.ts'
import { eachPackedPrice, packedCount, type PriceChange } from '../records/price-payload.ts'
import type { PriceBatch } from '../records/price-batch.ts'
import { hasSeveralSources, PriceJudge } from '../judging/price-judge.ts'
import { Statements } from './statements.ts'
import type { PriceCounts } from '../records/price-types.ts'
import { refreshUsualRatios } from '../judging/usual-ratios.ts'
import { type IsWithdrawn, withdrawnPrices } from './withdrawn-prices.ts'
import type { Write } from './batch-table.ts'
import { FeedMoves } from '../judging/feed-moves.ts'
import { writeCurrent } from './current-writes.ts'
import { dropHeld, insertHeld } from './held-writes.ts'
import { lockMarkets } from './lock-markets.ts'
import { cover, insertPoints } from './points.ts'
import { currentPrice, later, type PreviousPrice, readEarlier } from './previous-prices.ts'

/** With more cards than this, comparing names would take a sixth of an import, so the periodic judging does it instead. */
const MAX_CARDS_BY_NAME = 200_000

/** The statements of an import in a market: items by label. A file of a long history states each price many times. */
interface Feed {
  newestMs: number
  items: Map<number, RowBits>
}

/** Writes the prices of one import, batch by batch; call `finish` after the last. */
export class PriceWriter {
  readonly #write: Write
  readonly #tx: Tx
  readonly #rules: PriceRules
  readonly #nowMs: number
  readonly #labels: ReadonlyMap<string, number> | null
  #judge: PriceJudge | null = null
  readonly #locked = new Set<number>()
  /** the transaction snapshot before the first price was read */
  #snapshot = ''
  /** items of which a price was set or confirmed */
  readonly #touched = new RowBits()
  /** those of them that have prices of several sources */
  readonly #several = new RowBits()
  /** items whose other prices get a new verdict */
  readonly #toJudge = new Set<number>()
  readonly #feeds = new Map<number, Feed>()
  /** number of prices set or confirmed */
  #statements = 0
  /** how far the prices written so far are from earlier ones of their sources */
  readonly moves = new FeedMoves()

  /**
   * @param write `accepted`: a person has reviewed the prices, so they are always published; `replay`: repeats statements made at `nowMs`;
   * `labels`: ids of all labels, if the caller has read them
   */
  constructor({
    rules,
    nowMs,
    labels = null,
    ...write
  }: Pick<Write, 'db' | 'tx' | 'note' | 'importId'> &
    Partial<Write> & { rules: PriceRules; nowMs: number; labels?: ReadonlyMap<string, number> | null }) {
    this.#write = { accepted: false, replay: false, ...write }
    this.#tx = write.tx
    this.#rules = rules
    this.#nowMs = nowMs
    this.#labels = labels
  }

  /** Writes a batch of up to tens of thousands of prices; a key may occur with several times, in any order. */
  async write(batch: PriceBatch): Promise<PriceCounts> {
    const { size } = batch
    const { sorted, currents } = await this.#begin(batch)
    await this.#keepStatements(batch, sorted, currents)
    const earlier = await readEarlier(this.#tx, batch, sorted, currents)
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
    /** position of the added point from which the interrupted current price applies again; -1 for none */
    let continuation = -1
    for (const i of sorted) {
      if (before < 0 || !batch.isSameKey(before, i)) {
        previous = null
        continuation = -1
      }
      before = i
      const write = batch.at(i)
      const current = currents.find(currents.first(write.itemId), write.market, write.labelId)
      const currentAtMs = current < 0 ? Number.NEGATIVE_INFINITY : currents.updatedAtMs[current]!
      const isCurrent = write.updatedAtMs >= currentAtMs
      const stored = current >= 0 && isCurrent ? currentPrice(currents, current) : (earlier.get(i) ?? null)
      const last = later(previous, stored)
      if (isCurrent && !previous && stored) this.moves.add(write, stored)
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
        continuation = again
        newest.push(again)
        this.#set(batch, again, currents, current, changes, currents.figures.at(current))
        continue
      }
      if (continuation >= 0 && write.updatedAtMs === currentAtMs) {
        // Interrupted again at the exact time at which it would have continued.
        newest.splice(newest.lastIndexOf(continuation), 1)
        resumed -= 1
        continuation = -1
      }
      if (write.updatedAtMs > currentAtMs) newest.push(i)
      else older.push(i)
      if (isCurrent) this.#set(batch, i, currents, current, changes, batch.figures.at(i))
    }
    await this.#judgeChanges(batch, currents, changes)
    await cover(this.#write, batch, covering)
    await insertPoints(this.#write, batch, newest, older)
    await writeCurrent(this.#write, batch, currents, changes)
    if (this.#write.replay) await dropHeld(this.#write, batch, sorted, held)
    const waiting = await insertHeld(this.#write, batch, held, holds)
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
    if (this.#write.accepted) this.#touched.forEach((id) => this.#toJudge.add(id))
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
    await judgePrices({ rules: this.#rules, now: () => new Date(this.#nowMs) }, tx, this.#write.note, this.#toJudge, judge)
  }

  /** Locks the markets and reads the current prices of the items. */
  async #begin(batch: PriceBatch): Promise<{ sorted: number[]; currents: CurrentPrices }> {
    let sorted = batch.sorted()
    await this.#lock(batch, sorted)
    this.#judge ??= await PriceJudge.load(this.#tx, this.#rules, this.#nowMs, {
      before: this.#write.replay ? this.#write.importId : null,
      ids: this.#labels,
    })
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
    const snapshot = await lockMarkets(this.#tx, markets)
    for (const one of markets) this.#locked.add(one)
    this.#snapshot ||= snapshot
  }

  /** Stored so that the import can be reverted even after later ones. Prices held for an ambiguous item are not statements. */
  async #keepStatements(batch: PriceBatch, sorted: readonly number[], currents: CurrentPrices): Promise<void> {
    if (this.#write.replay || this.#write.accepted) return
    const positions = batch.holds.size === 0 ? sorted : sorted.filter((i) => !batch.holds.has(i))
    if (positions.length === 0) return
    const payload = Statements.of(batch, positions, currents).pack()
    await this.#tx
      .insertInto('price_statements')
      .values({ import_id: this.#write.importId, at: new Date(this.#nowMs), payload })
      .execute()
  }

  #holdOf(batch: PriceBatch, i: number, last: PreviousPrice | null): Hold | null {
    if (this.#write.accepted) return null
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
    const at = currents.set(current, write, this.#write.importId)
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
    currents.verdict[at] = unjudged(jumps | (currents.verdict[at]! & (isOther ? FROZEN : IDENTICAL | FROZEN)))
    if (isOther) currents.figures.set(at, figures)
    currents.confirmedAtMs[at] = updatedAtMs
    if (changes.setAt.at(-1) !== at) changes.confirmed.add(at)
    this.#stated(write)
  }

  /** Evidence against a price that replaces or repeats a current one: bits of flags. */
  #jumpsOf(now: StatedPrice, currents: CurrentPrices, at: number): number {
    return jumpsOf(now, currentPrice(currents, at), this.#judge!.conditions.noiseMinor[currents.market(at)]!, this.#rules)
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
    if (this.#write.accepted || this.#feeds.size === 0) return
    const feeds = [...this.#feeds]
    await sql`
      insert into price_feeds (market, import_id, newest, prices)
      select market, ${this.#write.importId}::int4, to_timestamp(newest_ms / 1000), prices
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
    if (this.#write.accepted) return () => false
    return withdrawnPrices(
      this.#tx,
      sorted.map((i) => itemId[i]!),
    )
  }
}

/** The verdict of a price that is not judged yet. */
function unjudged(flags: number): number {
  return flags === 0 ? 0 : packedVerdict(STATES.indexOf('disputed'), 0, flags)
}
