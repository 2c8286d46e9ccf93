// Stored usual ratios between markets by set and finish: reads and recomputes them.
import { sql } from 'kysely'
import { copyOut, int2At, int4At, minorAt, readBinaryCopy, timeAt } from '#db/copy.ts'
import type { Queryable, Tx } from '#db/schema.ts'
import type { Conditions } from '../evidence/judge.ts'
import { type GroupRatio, type MarketPair, type RatioDecision, ratioKey, TEACHES_NO_RATIO, UsualRatios, usualRatios } from '../evidence/ratios.ts'
import { STATES } from '../evidence/evidence-types.ts'

/** The properties of an item that determine its usual ratios. */
export interface ItemGroup {
  game: string
  categoryId: number
  /** as sources show it, in lower case; '' if none states it */
  finish: string
}

/** The finish of an item `i`, as SQL. */
export const FINISH = `coalesce(lower(jsonb_path_query_first(i.attributes, '$[*] ? (@.name == "Finish").value') #>> '{}'), '')`

/** Set and finish of items, by id. */
export async function loadItemGroups(on: Queryable, itemIds: readonly number[]): Promise<Map<number, ItemGroup>> {
  if (itemIds.length === 0) return new Map()
  const { rows } = await sql<{ id: number; game: string; category_id: number; finish: string }>`
    select id, game, category_id, ${sql.raw(FINISH)} as finish from items i where id = any(${`{${itemIds.join(',')}}`}::int4[])`.execute(on)
  return new Map(rows.map(({ id, game, category_id: categoryId, finish }) => [id, { game, categoryId, finish }]))
}

/** All usual ratios, with the decisions about them. */
export async function loadUsualRatios(on: Queryable): Promise<UsualRatios> {
  return new UsualRatios((await storedRatios(on)).values(), await ratioDecisions(on))
}

/** A decision about a ratio as it is stored. */
export interface StoredDecision extends RatioDecision {
  author: string
  at: Date
}

/** Decisions about ratios, by `ratioKey`. */
export async function ratioDecisions(on: Queryable): Promise<Map<string, StoredDecision>> {
  const rows = await on.selectFrom('usual_ratio_decisions').selectAll().execute()
  return new Map(
    rows.map(({ game, category_id: categoryId, finish, market_a: marketA, market_b: marketB, decision, ratio, author, at }) => [
      ratioKey({ game, categoryId, finish, marketA, marketB }),
      { decision: decision as RatioDecision['decision'], ratio, author, at },
    ]),
  )
}

/** Recomputes the usual ratios from all current prices that are not stale and not contradicted by themselves, and stores those that changed. */
export async function refreshUsualRatios(tx: Tx, conditions: Conditions): Promise<void> {
  const before = await storedRatios(tx)
  const after = new Map(usualRatios(await marketPairs(tx, conditions)).map((ratio) => [ratioKey(ratio), ratio]))
  const gone = [...before].filter(([key]) => !after.has(key)).map(([, ratio]) => ratio)
  const changed = [...after].filter(([key, ratio]) => !isSame(before.get(key), ratio)).map(([, ratio]) => ratio)
  if (gone.length > 0) {
    await sql`
      delete from usual_ratios r using ${keyTable(gone)}
      where (r.game, r.category_id, r.finish, r.market_a, r.market_b) = (g.game, g.category_id, g.finish, g.market_a, g.market_b)`.execute(tx)
  }
  if (changed.length === 0) return
  await sql`
    insert into usual_ratios (game, category_id, finish, market_a, market_b, ratio, spread, cards)
    select g.game, g.category_id, g.finish, g.market_a, g.market_b, r.ratio, r.spread, r.cards
    from ${keyTable(changed)} join unnest(${changed.map(({ ratio }) => ratio)}::float4[], ${changed.map(({ spread }) => spread)}::float4[],
      ${changed.map(({ cards }) => cards)}::int4[]) with ordinality as r(ratio, spread, cards, n) on r.n = g.n
    on conflict (game, category_id, finish, market_a, market_b) do update
      set ratio = excluded.ratio, spread = excluded.spread, cards = excluded.cards`.execute(tx)
}

async function storedRatios(on: Queryable): Promise<Map<string, GroupRatio>> {
  const rows = await on.selectFrom('usual_ratios').selectAll().execute()
  const ratios = rows.map(({ game, category_id: categoryId, finish, market_a: marketA, market_b: marketB, ratio, spread, cards }) => {
    return { game, categoryId, finish, marketA, marketB, ratio, spread, cards }
  })
  return new Map(ratios.map((ratio) => [ratioKey(ratio), ratio]))
}

/** The database stores four bytes of each. */
function isSame(a: GroupRatio | undefined, b: GroupRatio): boolean {
  return a !== undefined && a.cards === b.cards && Math.fround(a.ratio) === Math.fround(b.ratio) && Math.fround(a.spread) === Math.fround(b.spread)
}

function keyTable(ratios: readonly GroupRatio[]) {
  return sql`unnest(${ratios.map((r) => r.game)}::text[], ${ratios.map((r) => r.categoryId)}::int4[], ${ratios.map((r) => r.finish)}::text[],
    ${ratios.map((r) => r.marketA)}::int2[], ${ratios.map((r) => r.marketB)}::int2[])
    with ordinality as g(game, category_id, finish, market_a, market_b, n)`
}

/** Pairs of two markets' prices of one item and label that are above the noise in both. */
async function marketPairs(tx: Tx, { convert, noiseMinor }: Conditions): Promise<MarketPair[]> {
  const stale = STATES.indexOf('stale')
  const pairs: MarketPair[] = []
  // The service's own prices are no evidence about other markets.
  const chunks = copyOut(
    tx,
    `copy (
      with pairs as materialized (
        select a.item_id, a.market as market_a, b.market as market_b, a.price as price_a, b.price as price_b,
          greatest(a.updated_at, a.confirmed_at, b.updated_at, b.confirmed_at) as at
        from prices a join prices b on b.item_id = a.item_id and b.label_id = a.label_id and b.market > a.market
        where a.market > 0 and a.state <> ${stale} and b.state <> ${stale} and (a.flags | b.flags) & ${TEACHES_NO_RATIO} = 0
      )
      select i.game, i.category_id, ${FINISH}, p.market_a, p.market_b, p.price_a, p.price_b, p.at
      from pairs p join items i on i.id = p.item_id
    ) to stdout (format binary)`,
  )
  await readBinaryCopy(chunks, (buffer, offsets, lengths) => {
    const text = (field: number) => buffer.toString('utf8', offsets[field], offsets[field]! + lengths[field]!)
    const [marketA, marketB] = [int2At(buffer, offsets[3]!), int2At(buffer, offsets[4]!)]
    const [minorA, minorB] = [minorAt(buffer, offsets[5]!), minorAt(buffer, offsets[6]!)]
    if (minorA < noiseMinor[marketA]! || minorB < noiseMinor[marketB]!) return
    const converted = convert(minorB, marketB, marketA, timeAt(buffer, offsets[7]!))
    if (converted === null) return
    pairs.push({ game: text(0), categoryId: int4At(buffer, offsets[1]!), finish: text(2), marketA, marketB, ratio: converted / minorA })
  })
  return pairs
}
