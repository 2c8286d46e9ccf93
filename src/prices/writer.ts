// Writing of prices: what is new becomes a point of the history and the current price, what is the same is not written,
// what looks wrong is held. All in the transaction of the import or post.
import { sql } from 'kysely'
import { minorToText, parseMinor } from '#core/money.ts'
import type { Note } from '#db/change.ts'
import type { Db, Tx } from '#db/schema.ts'
import { ensureMonths } from './months.ts'
import { packPrices, type PriceChange } from './payload.ts'
import { holdOf, type PriceRules } from './quarantine.ts'
import type { Hold, PriceCounts, PriceWrite } from './types.ts'

interface Known {
  minor: number
  updatedAtMs: number
}

interface Held extends PriceWrite {
  hold: Hold
}

/** Writers of one market take turns, so that what was read about it stays true until the commit. */
export async function lockMarkets(tx: Tx, markets: Iterable<number>): Promise<void> {
  for (const market of [...new Set(markets)].sort()) {
    await sql`select pg_advisory_xact_lock(7307, ${market})`.execute(tx)
  }
}

/** Writes the prices of one import, batch by batch. */
export class PriceWriter {
  readonly #db: Db
  readonly #tx: Tx
  readonly #note: Note
  readonly #importId: number
  readonly #rules: PriceRules
  readonly #nowMs: number
  /** current price by key, as far as this import has met it; valid because writers of a market take turns */
  readonly #current = new Map<number, Known | null>()
  readonly #locked = new Set<number>()

  constructor(write: { db: Db; tx: Tx; note: Note; importId: number; rules: PriceRules; nowMs: number }) {
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
    await this.#readCurrent(batch)
    const sorted = withoutRepeats(batch)
    const earlier = await this.#readEarlier(sorted)
    const points: PriceWrite[] = []
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
      const candidate = { minor: write.minor, updatedAtMs: write.updatedAtMs, lastMinor: last?.minor ?? null }
      const hold = holdOf(candidate, this.#rules, this.#nowMs)
      if (hold) {
        held.push({ ...write, hold })
        continue
      }
      previous = write
      points.push(write)
      if (!current || write.updatedAtMs >= current.updatedAtMs) {
        this.#current.set(key, write)
        currents.set(key, write)
      }
    }
    await this.#insertPoints(points)
    await this.#upsertCurrent([...currents.values()])
    await this.#insertHeld(held)
    return { accepted: points.length, held: held.length, unchanged: batch.length - points.length - held.length }
  }

  async #lock(batch: PriceWrite[]): Promise<void> {
    const markets = new Set<number>()
    for (const write of batch) if (!this.#locked.has(write.market)) markets.add(write.market)
    if (markets.size === 0) return
    await lockMarkets(this.#tx, markets)
    for (const market of markets) this.#locked.add(market)
  }

  async #readCurrent(batch: PriceWrite[]): Promise<void> {
    const unknown = new Map<number, PriceWrite>()
    for (const write of batch) {
      const key = keyOf(write)
      if (!this.#current.has(key)) unknown.set(key, write)
    }
    if (unknown.size === 0) return
    const keys = [...unknown.values()]
    const { rows } = await sql<{ n: number; price: string; at_ms: number }>`
      select k.n::int as n, p.price, (extract(epoch from p.updated_at) * 1000)::float8 as at_ms
      from unnest(${keys.map((k) => k.itemId)}::int4[], ${keys.map((k) => k.market)}::int2[], ${keys.map((k) => k.labelId)}::int4[])
        with ordinality as k(item_id, market, label_id, n)
      join prices p using (item_id, market, label_id)`.execute(this.#tx)
    for (const key of unknown.keys()) this.#current.set(key, null)
    for (const row of rows) {
      this.#current.set(keyOf(keys[row.n - 1]!), { minor: parseMinor(row.price)!, updatedAtMs: row.at_ms })
    }
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

  async #upsertCurrent(currents: PriceChange[]): Promise<void> {
    if (currents.length === 0) return
    await sql`
      insert into prices (item_id, market, label_id, updated_at, price, import_id)
      select item_id, market, label_id, to_timestamp(at_ms / 1000), price, ${this.#importId}::int4 from ${given(currents)}
      on conflict (item_id, market, label_id) do update
        set price = excluded.price, updated_at = excluded.updated_at, import_id = excluded.import_id`.execute(this.#tx)
    await this.#note.changedPrices(packPrices(currents))
  }

  /** A price that waits already is not put there twice. */
  async #insertHeld(held: Held[]): Promise<void> {
    if (held.length === 0) return
    await sql`
      insert into held_prices (item_id, market, label_id, updated_at, price, import_id, rule, reason)
      select item_id, market, label_id, to_timestamp(at_ms / 1000), price, ${this.#importId}::int4,
             (${held.map((h) => h.hold.rule)}::text[])[n], (${held.map((h) => h.hold.reason)}::text[])[n]
      from ${given(held)}
      on conflict do nothing`.execute(this.#tx)
  }
}

/** Prices as a table with a column each; amounts travel as exact decimal text. */
function given(writes: readonly PriceChange[]) {
  return sql`unnest(${writes.map((w) => w.itemId)}::int4[], ${writes.map((w) => w.market)}::int2[], ${writes.map((w) => w.labelId)}::int4[],
    ${writes.map((w) => minorToText(w.minor))}::numeric[], ${writes.map((w) => w.updatedAtMs)}::float8[])
    with ordinality as given(item_id, market, label_id, price, at_ms, n)`
}

/** One number per item, market and label: exact below 2^53. */
function keyOf({ itemId, market, labelId }: PriceChange): number {
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

function later(a: Known | null, b: Known | null): Known | null {
  if (!a || !b) return a ?? b
  return b.updatedAtMs > a.updatedAtMs ? b : a
}
