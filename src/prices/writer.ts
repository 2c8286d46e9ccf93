// Writing of prices: what is new becomes a point of the history and the current price, what is the same is not written,
// what looks wrong is held. All in the transaction of the import or post.
import { sql } from 'kysely'
import { MARKETS } from '#core/markets.ts'
import { minorToText, parseMinor } from '#core/money.ts'
import type { Note } from '#db/change.ts'
import { BinaryRows, copyIn } from '#db/copy.ts'
import type { Db, Tx } from '#db/schema.ts'
import { CurrentPrices, type Known } from './current.ts'
import { labelIds } from './labels.ts'
import { ensureMonths } from './months.ts'
import { packPrices, type PriceChange } from './payload.ts'
import { type Candidate, holdOf, type PriceRules } from './quarantine.ts'
import { Rates } from './rates.ts'
import type { Hold, PriceCounts, PriceWrite } from './types.ts'

interface Held extends PriceWrite {
  hold: Hold
}

/** Ids of the labels that a rule compares. */
interface Labels {
  nearMint: number
  psa10: number
}

/** Prices further apart in time than this say nothing about each other. */
const COMPARABLE_MS = 90 * 86_400_000
/** Fewer points than this are not worth the round trips of a COPY. */
const COPY_POINTS = 500
const UNIQUE_VIOLATION = '23505'

/** Writers of one market take turns, so that what was read about it stays true until the commit. */
export async function lockMarkets(tx: Tx, markets: Iterable<number>): Promise<void> {
  for (const market of [...new Set(markets)].sort((a, b) => a - b)) {
    await sql`select pg_advisory_xact_lock(7307, ${market})`.execute(tx)
  }
}

/** Writes the prices of one import, batch by batch. */
export class PriceWriter {
  readonly #db: Db
  readonly #tx: Tx
  readonly #note: Note
  readonly #importId: number
  readonly #rules: PriceRules | null
  readonly #nowMs: number
  #rates: Rates | null = null
  #labels: Labels | null = null
  readonly #locked = new Set<number>()

  /** @param write `rules` null publishes whatever comes: someone has looked at it */
  constructor(write: { db: Db; tx: Tx; note: Note; importId: number; rules: PriceRules | null; nowMs: number }) {
    this.#db = write.db
    this.#tx = write.tx
    this.#note = write.note
    this.#importId = write.importId
    this.#rules = write.rules
    this.#nowMs = write.nowMs
  }

  /** Writes up to some ten thousand prices; the same key may occur with several times, in any order. */
  async write(batch: PriceWrite[]): Promise<PriceCounts> {
    await this.#lock(batch)
    this.#rates ??= await Rates.load(this.#tx)
    this.#labels ??= await comparedLabels(this.#tx)
    const sorted = withoutRepeats(batch)
    const currents = await CurrentPrices.read(this.#tx, sorted)
    const earlier = await this.#readEarlier(sorted, currents)
    const newest: PriceWrite[] = []
    const older: PriceWrite[] = []
    const covering: PriceWrite[] = []
    const held: Held[] = []
    const changed: PriceWrite[] = []
    let before: PriceWrite | null = null
    let previous: Known | null = null
    for (const write of sorted) {
      if (!before || !isSameKey(before, write)) previous = null
      before = write
      const current = currents.get(write, write.market, write.labelId)
      const last = later(previous, current && current.updatedAtMs <= write.updatedAtMs ? current : (earlier.get(write) ?? null))
      if (last && last.minor === write.minor) continue
      const isCurrent = !current || write.updatedAtMs >= current.updatedAtMs
      const hold = write.hold ?? this.#judge(write, last, isCurrent, currents)
      if (hold) {
        held.push({ ...write, hold })
        continue
      }
      previous = write
      if (last?.updatedAtMs === write.updatedAtMs) covering.push(write)
      if (!current || write.updatedAtMs > current.updatedAtMs) newest.push(write)
      else older.push(write)
      if (!isCurrent) continue
      currents.set(write)
      if (changed.length > 0 && isSameKey(changed.at(-1)!, write)) changed.pop()
      changed.push(write)
    }
    await this.#cover(covering)
    await this.#insertPoints(newest, older)
    await this.#upsertCurrent(changed)
    const waiting = await this.#insertHeld(held)
    const accepted = newest.length + older.length
    return { accepted, held: waiting, unchanged: batch.length - accepted - waiting }
  }

  async #lock(batch: PriceWrite[]): Promise<void> {
    const markets = new Set<number>()
    for (const write of batch) if (!this.#locked.has(write.market)) markets.add(write.market)
    if (markets.size === 0) return
    await lockMarkets(this.#tx, markets)
    for (const market of markets) this.#locked.add(market)
  }

  #judge(write: PriceWrite, last: Known | null, isCurrent: boolean, currents: CurrentPrices): Hold | null {
    if (!this.#rules) return null
    const candidate: Candidate = {
      minor: write.minor,
      updatedAtMs: write.updatedAtMs,
      lastMinor: last?.minor ?? null,
      otherMinors: () => (isCurrent ? this.#otherMarkets(write, this.#rules!, currents) : []),
      nearMintMinor: () => (isCurrent && write.labelId === this.#labels!.psa10 ? this.#nearMint(write, currents) : null),
    }
    return holdOf(candidate, this.#rules, this.#nowMs)
  }

  /** Prices of the same item and label elsewhere, not much older or newer, in the currency of this one. */
  #otherMarkets(write: PriceWrite, { currencies }: PriceRules, currents: CurrentPrices): number[] {
    const found: number[] = []
    for (let market = 0; market < MARKETS.length; market += 1) {
      const other = market === write.market ? null : currents.get(write, market, write.labelId)
      if (!other || !isComparable(other, write)) continue
      const [from, to] = [currencies[MARKETS[market]!], currencies[MARKETS[write.market]!]]
      const minor = this.#rates!.convert(other.minor, from, to, write.updatedAtMs)
      if (minor !== null) found.push(minor)
    }
    return found
  }

  #nearMint(write: PriceWrite, currents: CurrentPrices): number | null {
    const nearMint = currents.get(write, write.market, this.#labels!.nearMint)
    return nearMint && isComparable(nearMint, write) ? nearMint.minor : null
  }

  /** For prices older than the current one: the point of the history that they follow. */
  async #readEarlier(sorted: PriceWrite[], currents: CurrentPrices): Promise<Map<PriceWrite, Known>> {
    const old = sorted.filter((write) => (currents.get(write, write.market, write.labelId)?.updatedAtMs ?? -Infinity) > write.updatedAtMs)
    const earlier = new Map<PriceWrite, Known>()
    if (old.length === 0) return earlier
    const { rows } = await sql<{ n: number; price: string; at_ms: number }>`
      select k.n::int as n, h.price, (extract(epoch from h.updated_at) * 1000)::float8 as at_ms
      from unnest(${old.map((k) => k.itemId)}::int4[], ${old.map((k) => k.market)}::int2[], ${old.map((k) => k.labelId)}::int4[],
                  ${old.map((k) => k.updatedAtMs)}::float8[]) with ordinality as k(item_id, market, label_id, at_ms, n)
      cross join lateral (
        select price, updated_at from price_points p
        where p.item_id = k.item_id and p.market = k.market and p.label_id = k.label_id
          and p.updated_at <= to_timestamp(k.at_ms / 1000)
        order by updated_at desc limit 1
      ) h`.execute(this.#tx)
    for (const row of rows) earlier.set(old[row.n - 1]!, { minor: parseMinor(row.price)!, updatedAtMs: row.at_ms })
    return earlier
  }

  /**
   * Adds points to the history.
   * @param newest later than the current price of their key, so that no point should stand in their place
   * @param older that may take the place of one
   */
  async #insertPoints(newest: PriceWrite[], older: PriceWrite[]): Promise<void> {
    if (newest.length + older.length === 0) return
    await ensureMonths(this.#db, this.#tx, [...newest, ...older].map((point) => point.updatedAtMs))
    const copied = newest.length >= COPY_POINTS && (await this.#copyPoints(newest))
    await this.#mergePoints(copied ? older : [...newest, ...older])
  }

  async #mergePoints(points: PriceWrite[]): Promise<void> {
    if (points.length === 0) return
    await sql`
      insert into price_points (item_id, market, label_id, updated_at, price, import_id)
      select item_id, market, label_id, to_timestamp(at_ms / 1000), price, ${this.#importId}::int4 from ${given(points)}
      on conflict (item_id, market, label_id, updated_at) do update
        set price = excluded.price, import_id = excluded.import_id`.execute(this.#tx)
  }

  /** Adds points by COPY, half the work of an insert that looks for conflicts; false, and nothing done, when there is one. */
  async #copyPoints(points: PriceWrite[]): Promise<boolean> {
    const rows = new BinaryRows()
    for (const { itemId, market, labelId, updatedAtMs, minor } of points) {
      rows.begin(6).int4(itemId).int2(market).int4(labelId).time(updatedAtMs).minor(minor).int4(this.#importId)
    }
    const copy = 'copy price_points (item_id, market, label_id, updated_at, price, import_id) from stdin (format binary)'
    await sql`savepoint copied_points`.execute(this.#tx)
    try {
      await copyIn(this.#tx, copy, [rows.end()])
      await sql`release savepoint copied_points`.execute(this.#tx)
      return true
    } catch (error) {
      if ((error as { code?: string }).code !== UNIQUE_VIOLATION) throw error
      await sql`rollback to savepoint copied_points`.execute(this.#tx)
      return false
    }
  }

  /** Another price for the same moment takes the place of a point, which is kept for the case that this one goes. */
  async #cover(points: PriceWrite[]): Promise<void> {
    if (points.length === 0) return
    await sql`
      insert into hidden_points (import_id, item_id, market, label_id, updated_at, price, withdrawn)
      select p.import_id, g.item_id, g.market, g.label_id, p.updated_at, p.price, false
      from ${given(points)} cross join lateral (
        select h.updated_at, h.price, h.import_id from price_points h
        where h.item_id = g.item_id and h.market = g.market and h.label_id = g.label_id
          and h.updated_at = to_timestamp(g.at_ms / 1000) and h.import_id <> ${this.#importId}::int4
        offset 0
      ) p
      on conflict (import_id, item_id, market, label_id, updated_at) do update
        set price = excluded.price, withdrawn = false`.execute(this.#tx)
  }

  async #upsertCurrent(currents: PriceChange[]): Promise<void> {
    if (currents.length === 0) return
    await sql`
      insert into prices (item_id, market, label_id, updated_at, price, import_id)
      select item_id, market, label_id, to_timestamp(at_ms / 1000), price, ${this.#importId}::int4 from ${given(currents)}
      on conflict (item_id, market, label_id) do update
        set price = excluded.price, updated_at = excluded.updated_at, import_id = excluded.import_id`.execute(this.#tx)
    await this.#note.changedPrices(packPrices(currents))
  }

  /** A price that waits already is not put there twice, nor one that was discarded; gives the number that are new. */
  async #insertHeld(held: Held[]): Promise<number> {
    if (held.length === 0) return 0
    const holds = held.map(({ hold }) => hold)
    const { numAffectedRows } = await sql`
      insert into held_prices (item_id, market, label_id, updated_at, price, import_id, rule, reason, compared_price, times_off)
      select g.item_id, g.market, g.label_id, to_timestamp(g.at_ms / 1000), g.price, ${this.#importId}::int4,
             (${holds.map((h) => h.rule)}::text[])[n], (${holds.map((h) => h.reason)}::text[])[n],
             (${holds.map((h) => (h.compared === null ? null : minorToText(h.compared)))}::numeric[])[n],
             (${holds.map((h) => h.timesOff)}::real[])[n]
      from ${given(held)}
      where not exists (
        select from held_prices h
        where h.item_id = g.item_id and h.market = g.market and h.label_id = g.label_id
          and h.updated_at = to_timestamp(g.at_ms / 1000) and h.price = g.price and h.decision = 'discarded'
      )
      on conflict do nothing`.execute(this.#tx)
    return Number(numAffectedRows)
  }
}

/** Prices as a table with a column each; amounts travel as exact decimal text. */
function given(writes: readonly PriceChange[]) {
  return sql`unnest(${column(writes, (w) => w.itemId)}::int4[], ${column(writes, (w) => w.market)}::int2[], ${column(writes, (w) => w.labelId)}::int4[],
    ${column(writes, (w) => minorToText(w.minor))}::numeric[], ${column(writes, (w) => w.updatedAtMs)}::float8[])
    with ordinality as g(item_id, market, label_id, price, at_ms, n)`
}

/** An array as PostgreSQL writes it: numbers need none of the quoting and escaping that the driver gives every value. */
function column(writes: readonly PriceChange[], textOf: (write: PriceChange) => number | string): string {
  return `{${writes.map(textOf).join(',')}}`
}

function isSameKey(a: PriceChange, b: PriceChange): boolean {
  return a.itemId === b.itemId && a.market === b.market && a.labelId === b.labelId
}

/** Sorted by key and time; of two prices of one key and time the one that came last in the feed stays. */
function withoutRepeats(batch: PriceWrite[]): PriceWrite[] {
  const sorted = batch.toSorted(
    (a, b) => a.itemId - b.itemId || a.market - b.market || a.labelId - b.labelId || a.updatedAtMs - b.updatedAtMs || b.row - a.row,
  )
  return sorted.filter((write, i) => {
    const before = sorted[i - 1]
    return !before || !isSameKey(before, write) || before.updatedAtMs !== write.updatedAtMs
  })
}

async function comparedLabels(tx: Tx): Promise<Labels> {
  const labels = await labelIds(tx)
  return { nearMint: labels.get('Near Mint')!, psa10: labels.get('PSA 10')! }
}

function isComparable(a: Known, b: Known): boolean {
  return Math.abs(a.updatedAtMs - b.updatedAtMs) <= COMPARABLE_MS
}

function later(a: Known | null, b: Known | null): Known | null {
  if (!a || !b) return a ?? b
  return b.updatedAtMs > a.updatedAtMs ? b : a
}
