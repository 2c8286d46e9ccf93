// Writing of prices: what is new becomes a point of the history and the current price, what is the same is not written,
// what looks wrong is held. All in the transaction of the import or post.
import { sql } from 'kysely'
import { MARKETS } from '#core/markets.ts'
import { minorToText, parseMinor } from '#core/money.ts'
import type { Note } from '#db/change.ts'
import type { Db, Tx } from '#db/schema.ts'
import { labelIds } from './labels.ts'
import { ensureMonths } from './months.ts'
import { packPrices, type PriceChange } from './payload.ts'
import { type Candidate, holdOf, type PriceRules } from './quarantine.ts'
import { Rates } from './rates.ts'
import type { Hold, PriceCounts, PriceWrite } from './types.ts'

interface Known {
  minor: number
  updatedAtMs: number
}

interface Held extends PriceWrite {
  hold: Hold
}

interface PriceRow {
  item_id: number
  market: number
  label_id: number
  price: string
  at_ms: number
}

/** Ids of the labels that a rule compares. */
interface Labels {
  nearMint: number
  psa10: number
}

/** Prices further apart in time than this say nothing about each other. */
const COMPARABLE_MS = 90 * 86_400_000

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
  /** current prices of the items met so far, by key; those of locked markets stay true, because writers take turns */
  readonly #current = new Map<number, Known>()
  readonly #itemsRead = new Set<number>()
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
    await this.#readCurrent(batch)
    const sorted = withoutRepeats(batch)
    const earlier = await this.#readEarlier(sorted)
    const points: PriceWrite[] = []
    const covering: PriceWrite[] = []
    const held: Held[] = []
    const currents = new Map<number, PriceChange>()
    let previousKey = -1
    let previous: Known | null = null
    for (const write of sorted) {
      const key = keyOf(write)
      if (key !== previousKey) previous = null
      previousKey = key
      const current = this.#current.get(key) ?? null
      const last = later(previous, current && current.updatedAtMs <= write.updatedAtMs ? current : (earlier.get(write) ?? null))
      if (last && last.minor === write.minor) continue
      const hold = write.hold ?? this.#judge(write, last, !current || write.updatedAtMs >= current.updatedAtMs)
      if (hold) {
        held.push({ ...write, hold })
        continue
      }
      previous = write
      points.push(write)
      if (last?.updatedAtMs === write.updatedAtMs) covering.push(write)
      if (!current || write.updatedAtMs >= current.updatedAtMs) {
        this.#current.set(key, write)
        currents.set(key, write)
      }
    }
    await this.#cover(covering)
    await this.#insertPoints(points)
    await this.#upsertCurrent([...currents.values()])
    const waiting = await this.#insertHeld(held)
    return { accepted: points.length, held: waiting, unchanged: batch.length - points.length - waiting }
  }

  async #lock(batch: PriceWrite[]): Promise<void> {
    const markets = new Set<number>()
    for (const write of batch) if (!this.#locked.has(write.market)) markets.add(write.market)
    if (markets.size === 0) return
    await lockMarkets(this.#tx, markets)
    for (const market of markets) this.#locked.add(market)
  }

  async #readCurrent(batch: PriceWrite[]): Promise<void> {
    const unread = new Set<number>()
    for (const write of batch) if (!this.#itemsRead.has(write.itemId)) unread.add(write.itemId)
    if (unread.size === 0) return
    const { rows } = await sql<PriceRow>`
      select item_id, market, label_id, price, (extract(epoch from updated_at) * 1000)::float8 as at_ms
      from prices where item_id = any(${[...unread]}::int4[])`.execute(this.#tx)
    for (const { item_id: itemId, market, label_id: labelId, price, at_ms: updatedAtMs } of rows) {
      this.#current.set(keyOf({ itemId, market, labelId }), { minor: parseMinor(price)!, updatedAtMs })
    }
    for (const itemId of unread) this.#itemsRead.add(itemId)
  }

  #judge(write: PriceWrite, last: Known | null, isCurrent: boolean): Hold | null {
    if (!this.#rules) return null
    const candidate: Candidate = {
      minor: write.minor,
      updatedAtMs: write.updatedAtMs,
      lastMinor: last?.minor ?? null,
      otherMinors: () => (isCurrent ? this.#otherMarkets(write, this.#rules!) : []),
      nearMintMinor: () => (isCurrent && write.labelId === this.#labels!.psa10 ? this.#nearMint(write) : null),
    }
    return holdOf(candidate, this.#rules, this.#nowMs)
  }

  /** Prices of the same item and label elsewhere, not much older or newer, in the currency of this one. */
  #otherMarkets(write: PriceWrite, { currencies }: PriceRules): number[] {
    const found: number[] = []
    for (let market = 0; market < MARKETS.length; market += 1) {
      const other = market === write.market ? undefined : this.#current.get(keyOf({ ...write, market }))
      if (!other || !isComparable(other, write)) continue
      const [from, to] = [currencies[MARKETS[market]!], currencies[MARKETS[write.market]!]]
      const minor = this.#rates!.convert(other.minor, from, to, write.updatedAtMs)
      if (minor !== null) found.push(minor)
    }
    return found
  }

  #nearMint(write: PriceWrite): number | null {
    const nearMint = this.#current.get(keyOf({ ...write, labelId: this.#labels!.nearMint }))
    return nearMint && isComparable(nearMint, write) ? nearMint.minor : null
  }

  /** For prices older than the current one: the point of the history that they follow. */
  async #readEarlier(sorted: PriceWrite[]): Promise<Map<PriceWrite, Known>> {
    const old = sorted.filter((write) => (this.#current.get(keyOf(write))?.updatedAtMs ?? -Infinity) > write.updatedAtMs)
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

  async #insertPoints(points: PriceWrite[]): Promise<void> {
    if (points.length === 0) return
    await ensureMonths(this.#db, this.#tx, points.map((point) => point.updatedAtMs))
    await sql`
      insert into price_points (item_id, market, label_id, updated_at, price, import_id)
      select item_id, market, label_id, to_timestamp(at_ms / 1000), price, ${this.#importId}::int4 from ${given(points)}
      on conflict (item_id, market, label_id, updated_at) do update
        set price = excluded.price, import_id = excluded.import_id`.execute(this.#tx)
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

/** One number per item, market and label: exact below 2^53. */
function keyOf({ itemId, market, labelId }: Pick<PriceChange, 'itemId' | 'market' | 'labelId'>): number {
  return (itemId * 4 + market) * 1_048_576 + labelId
}

/** Sorted by key and time; of two prices of one key and time the one that came last in the feed stays. */
function withoutRepeats(batch: PriceWrite[]): PriceWrite[] {
  const sorted = batch
    .map((write) => ({ write, key: keyOf(write) }))
    .sort((a, b) => a.key - b.key || a.write.updatedAtMs - b.write.updatedAtMs || b.write.row - a.write.row)
  const kept: PriceWrite[] = []
  sorted.forEach(({ write, key }, i) => {
    const before = sorted[i - 1]
    if (before?.key !== key || before.write.updatedAtMs !== write.updatedAtMs) kept.push(write)
  })
  return kept
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
