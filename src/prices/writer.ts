// Writing of prices: what is new becomes a point of the history and the current price, what is the same is not written,
// what looks wrong is held. All in the transaction of the import or post.
import { sql } from 'kysely'
import { MARKETS } from '#core/markets.ts'
import { minorToText, parseMinor } from '#core/money.ts'
import { textOf } from '#core/problems.ts'
import type { Note } from '#db/change.ts'
import { BinaryRows, copyIn } from '#db/copy.ts'
import type { Db, Tx } from '#db/schema.ts'
import { CurrentPrices } from './current.ts'
import { ensureMonths } from './months.ts'
import { packPrices, type PriceChange } from './payload.ts'
import type { PriceBatch } from './price-batch.ts'
import { type Candidate, type Hold, holdOf, type PriceRules } from './evidence/hold.ts'
import { noiseOf } from './evidence/judge.ts'
import { Rates } from './rates.ts'
import type { PriceCounts } from './types.ts'
import { type IsWithdrawn, withdrawnPrices } from './withdrawn-prices.ts'

/** A price that one is compared with. */
interface Known {
  minor: number
  updatedAtMs: number
}

/** Fewer points than this are not worth the round trips of a COPY. */
const COPY_POINTS = 500
const UNIQUE_VIOLATION = '23505'

/** Writers of one market take turns, so that what was read about it stays true until the commit. Merges of items lock all. */
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
  #noiseMinor: readonly number[] | null = null
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
  async write(batch: PriceBatch): Promise<PriceCounts> {
    let sorted = batch.sorted()
    await this.#lock(batch, sorted)
    this.#noiseMinor ??= await this.#noise()
    const read = () =>
      CurrentPrices.read(
        this.#tx,
        sorted.map((i) => batch.itemId[i]!),
      )
    let currents = await read()
    // Items that were merged after the caller had looked them up; from here on the locks keep merges waiting.
    if (currents.survivors.size > 0) {
      batch.replaceItems(currents.survivors)
      sorted = batch.sorted()
      currents = await read()
    }
    const earlier = await this.#readEarlier(batch, sorted, currents)
    const isWithdrawn = await this.#readWithdrawn(batch, sorted)
    const newest: number[] = []
    const older: number[] = []
    const covering: number[] = []
    const held: number[] = []
    const holds: Hold[] = []
    const changed: number[] = []
    let created = 0
    let before = -1
    let previous: Known | null = null
    for (const i of sorted) {
      if (before < 0 || !batch.isSameKey(before, i)) previous = null
      before = i
      const write = batch.at(i)
      const current = currents.find(currents.first(write.itemId), write.market, write.labelId)
      const currentAtMs = current < 0 ? Number.NEGATIVE_INFINITY : currents.updatedAtMs[current]!
      const stored =
        current >= 0 && currentAtMs <= write.updatedAtMs ? { minor: currents.minor[current]!, updatedAtMs: currentAtMs } : (earlier.get(i) ?? null)
      const last = later(previous, stored)
      if (last?.minor === write.minor || isWithdrawn(write, last?.updatedAtMs ?? null)) continue
      const isCurrent = write.updatedAtMs >= currentAtMs
      const hold = batch.holds.get(i) ?? this.#judge(write, last)
      if (hold) {
        held.push(i)
        holds.push(hold)
        continue
      }
      previous = write
      if (!last && current < 0) created += 1
      if (last?.updatedAtMs === write.updatedAtMs) covering.push(i)
      if (write.updatedAtMs > currentAtMs) newest.push(i)
      else older.push(i)
      if (!isCurrent) continue
      currents.set(current, write)
      if (changed.length > 0 && batch.isSameKey(changed.at(-1)!, i)) changed.pop()
      changed.push(i)
    }
    await this.#cover(batch, covering)
    await this.#insertPoints(batch, newest, older)
    await this.#writeCurrent(batch, changed, currents)
    const waiting = await this.#insertHeld(batch, held, holds)
    const accepted = newest.length + older.length
    return { accepted, created, held: waiting, unchanged: batch.size - accepted - waiting }
  }

  async #lock({ market }: PriceBatch, positions: readonly number[]): Promise<void> {
    const markets = new Set<number>()
    for (const i of positions) if (!this.#locked.has(market[i]!)) markets.add(market[i]!)
    if (markets.size === 0) return
    await lockMarkets(this.#tx, markets)
    for (const one of markets) this.#locked.add(one)
  }

  #judge(write: PriceChange, last: Known | null): Hold | null {
    if (!this.#rules) return null
    const candidate: Candidate = {
      minor: write.minor,
      updatedAtMs: write.updatedAtMs,
      figures: null,
      last: last && { minor: last.minor, confirmedAtMs: last.updatedAtMs, state: 'trusted', flags: 0, figures: null },
      noiseMinor: this.#noiseMinor![write.market]!,
    }
    return holdOf(candidate, this.#rules, this.#nowMs)
  }

  async #noise(): Promise<number[]> {
    if (!this.#rules) return []
    const { noise, currencies } = this.#rules
    const rates = await Rates.load(this.#tx)
    return noiseOf(noise, (minor, from, market) => rates.convert(minor, from, currencies[MARKETS[market]!], this.#nowMs))
  }

  /** A person who accepts a price knows better than one who withdrew it earlier. */
  async #readWithdrawn({ itemId }: PriceBatch, sorted: readonly number[]): Promise<IsWithdrawn> {
    if (!this.#rules) return () => false
    return withdrawnPrices(
      this.#tx,
      sorted.map((i) => itemId[i]!),
    )
  }

  /** For prices older than the current one: the point of the history that they follow, by position. */
  async #readEarlier(batch: PriceBatch, sorted: readonly number[], currents: CurrentPrices): Promise<Map<number, Known>> {
    const { itemId, market, labelId, updatedAtMs } = batch
    const old = sorted.filter((i) => {
      const current = currents.find(currents.first(itemId[i]!), market[i]!, labelId[i]!)
      return current >= 0 && currents.updatedAtMs[current]! > updatedAtMs[i]!
    })
    const earlier = new Map<number, Known>()
    if (old.length === 0) return earlier
    const { rows } = await sql<{ n: number; price: string; at_ms: number }>`
      select g.n::int as n, h.price, (extract(epoch from h.updated_at) * 1000)::float8 as at_ms
      from ${given(batch, old)} cross join lateral (
        select price, updated_at from price_points p
        where p.item_id = g.item_id and p.market = g.market and p.label_id = g.label_id
          and p.updated_at <= to_timestamp(g.at_ms / 1000)
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
      select item_id, market, label_id, to_timestamp(at_ms / 1000), price, ${this.#importId}::int4 from ${given(batch, points)}
      on conflict (item_id, market, label_id, updated_at) do update
        set price = excluded.price, import_id = excluded.import_id`.execute(this.#tx)
  }

  /** Adds points by COPY, half the work of an insert that looks for conflicts; false, and nothing done, when there is one. */
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
      if ((error as { code?: string }).code !== UNIQUE_VIOLATION) throw error
      await sql`rollback to savepoint copied_points`.execute(this.#tx)
      return false
    }
  }

  /** Another price for the same moment takes the place of a point, which is kept for the case that this one goes. */
  async #cover(batch: PriceBatch, points: readonly number[]): Promise<void> {
    if (points.length === 0) return
    await sql`
      insert into hidden_points (import_id, item_id, market, label_id, updated_at, price, withdrawn)
      select p.import_id, g.item_id, g.market, g.label_id, p.updated_at, p.price, false
      from ${given(batch, points)} cross join lateral (
        select h.updated_at, h.price, h.import_id from price_points h
        where h.item_id = g.item_id and h.market = g.market and h.label_id = g.label_id
          and h.updated_at = to_timestamp(g.at_ms / 1000) and h.import_id <> ${this.#importId}::int4
        offset 0
      ) p
      on conflict (import_id, item_id, market, label_id, updated_at) do update
        set price = excluded.price, withdrawn = false`.execute(this.#tx)
  }

  async #writeCurrent(batch: PriceBatch, changed: readonly number[], currents: CurrentPrices): Promise<void> {
    if (changed.length === 0) return
    const known: number[] = []
    const places: string[] = []
    const fresh: number[] = []
    for (const i of changed) {
      const place = currents.places[currents.find(currents.first(batch.itemId[i]!), batch.market[i]!, batch.labelId[i]!)]
      if (place === undefined) fresh.push(i)
      else {
        known.push(i)
        places.push(place)
      }
    }
    const updated = await this.#updateCurrent(batch, known, places)
    await this.#upsertCurrent(batch, updated < known.length ? changed : fresh)
    await this.#note.changedPrices(packPrices(changed.map((i) => batch.at(i))))
  }

  /**
   * Sets current prices that were read where they lie, half the work of looking for them by their key.
   * @returns how many: fewer than given when another writer has moved some since (the service's own prices are not locked)
   */
  async #updateCurrent(batch: PriceBatch, known: readonly number[], places: readonly string[]): Promise<number> {
    if (known.length === 0) return 0
    const { numAffectedRows } = await sql`
      update prices p set price = g.price, updated_at = to_timestamp(g.at_ms / 1000), import_id = ${this.#importId}::int4
      from unnest(${`{"${places.join('","')}"}`}::tid[], ${batch.column('itemId', known)}::int4[], ${batch.column('market', known)}::int2[],
        ${batch.column('labelId', known)}::int4[], ${amounts(batch, known)}::numeric[], ${batch.column('updatedAtMs', known)}::float8[])
        as g(place, item_id, market, label_id, price, at_ms)
      where p.ctid = g.place and p.item_id = g.item_id and p.market = g.market and p.label_id = g.label_id`.execute(this.#tx)
    return Number(numAffectedRows)
  }

  async #upsertCurrent(batch: PriceBatch, currents: readonly number[]): Promise<void> {
    if (currents.length === 0) return
    await sql`
      insert into prices (item_id, market, label_id, updated_at, price, import_id)
      select item_id, market, label_id, to_timestamp(at_ms / 1000), price, ${this.#importId}::int4 from ${given(batch, currents)}
      on conflict (item_id, market, label_id) do update
        set price = excluded.price, updated_at = excluded.updated_at, import_id = excluded.import_id`.execute(this.#tx)
  }

  /** A price that waits already is not put there twice, nor one that was discarded; gives the number that are new. */
  async #insertHeld(batch: PriceBatch, held: readonly number[], holds: readonly Hold[]): Promise<number> {
    if (held.length === 0) return 0
    const { rows } = await sql<{ count: number }>`
      with given as (
        select g.item_id, g.market, g.label_id, to_timestamp(g.at_ms / 1000) as updated_at, g.price, n,
               (${holds.map((h) => h.rule)}::text[])[n] as rule, (${holds.map((h) => JSON.stringify(h.params))}::jsonb[])[n] as params,
               (${holds.map(textOf)}::text[])[n] as reason,
               (${holds.map((h) => (h.compared === null ? null : minorToText(h.compared)))}::numeric[])[n] as compared_price,
               (${holds.map((h) => h.timesOff)}::real[])[n] as times_off
        from ${given(batch, held)}
      ), added as (
        insert into held_prices (item_id, market, label_id, updated_at, price, import_id, rule, reason, compared_price, times_off)
        select item_id, market, label_id, updated_at, price, ${this.#importId}::int4, rule, reason, compared_price, times_off
        from given
        where not exists (
          select from held_prices h
          where h.item_id = given.item_id and h.market = given.market and h.label_id = given.label_id
            and h.updated_at = given.updated_at and h.price = given.price and h.decision = 'discarded'
        )
        on conflict do nothing
        returning id, item_id, market, label_id, updated_at, price
      ), explained as (
        insert into held_price_params (held_price_id, params)
        select id, params from added join given using (item_id, market, label_id, updated_at, price)
        on conflict do nothing
      )
      select count(*)::int as count from added`.execute(this.#tx)
    return rows[0]!.count
  }
}

/** Prices of a batch as a table with a column each; amounts travel as exact decimal text. */
function given(batch: PriceBatch, positions: readonly number[]) {
  return sql`unnest(${batch.column('itemId', positions)}::int4[], ${batch.column('market', positions)}::int2[], ${batch.column('labelId', positions)}::int4[],
    ${amounts(batch, positions)}::numeric[], ${batch.column('updatedAtMs', positions)}::float8[])
    with ordinality as g(item_id, market, label_id, price, at_ms, n)`
}

function amounts({ minor }: PriceBatch, positions: readonly number[]): string {
  return `{${positions.map((i) => minorToText(minor[i]!)).join(',')}}`
}

function later(a: Known | null, b: Known | null): Known | null {
  if (!a || !b) return a ?? b
  return b.updatedAtMs > a.updatedAtMs ? b : a
}
