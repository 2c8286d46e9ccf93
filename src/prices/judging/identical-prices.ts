// Finds prices of different items in one market with identical amounts and figures: one of them belongs to another card.
import { sql } from 'kysely'
import type { Queryable } from '#db/schema.ts'
import { CurrentPrices, IDENTICAL } from '../records/current.ts'
import { areComparable, type IdentityKind, findDoubtful } from '../evidence/identical-figures.ts'
import type { Backing } from '../evidence/evidence-types.ts'
import type { MarkedPrice, PriceJudge } from './price-judge.ts'

const hasAverages = sql.raw('(p.avg_7 is not null or p.avg_30 is not null)')
const hasOffers = sql.raw('(p.low is not null and p.mid is not null)')
const kind = sql`case when ${hasAverages} then 'averages' when ${hasOffers} then 'offers' else 'name' end`
/** What prices `p` of items `i` with identical figures have in common, besides market and label. */
const identity = sql`p.price, ${kind}, case when not (${hasAverages} or ${hasOffers}) then lower(i.name) end,
          case when ${hasAverages} then p.avg_7 when ${hasOffers} then p.low end,
          case when ${hasAverages} then p.avg_30 when ${hasOffers} then p.mid end`
/** Items whose prices are read per statement. */
const ITEMS = 5_000

interface Member {
  /** prices with the same number are identical; null for a flagged price that is no longer identical to another */
  n: number | null
  item_id: number
  market: number
  label_id: number
  kind: IdentityKind
  category_id: number
  name: string
  flagged: boolean
  /** whether other sources have prices of the item, which may be evidence about it */
  several: boolean
}

/**
 * Unflagged prices that are identical to another item's, and flagged prices that are no longer identical.
 * The rule is `identityOf` and `findDoubtful` (evidence/identical-figures.ts).
 * @param markets positions in MARKETS
 * @param byName whether prices without figures are compared, by the names of their items; otherwise they keep their flags
 */
export async function findIdenticalPrices(on: Queryable, judge: PriceJudge, markets: Iterable<number>, byName: boolean): Promise<MarkedPrice[]> {
  const members = await membersOf(on, judge.conditions.noiseMinor, markets, byName)
  const backings = await backingsOf(
    on,
    judge,
    members.filter(({ n, several }) => n !== null && several),
  )
  const wrong: MarkedPrice[] = []
  for (const [n, alike] of Map.groupBy(members, (member) => member.n)) {
    const doubtful =
      n === null
        ? []
        : findDoubtful(
            alike.map((member) => ({ categoryId: member.category_id, name: member.name, backing: backings.get(member) ?? 'open' })),
            alike[0]!.kind,
          )
    for (const [position, { item_id: itemId, market, label_id: labelId, flagged }] of alike.entries()) {
      const identical = doubtful[position] ?? false
      if (identical !== flagged) wrong.push({ itemId, market, labelId, identical })
    }
  }
  return wrong
}

/** Evidence from prices of other markets. */
async function backingsOf(on: Queryable, judge: PriceJudge, members: readonly Member[]): Promise<Map<Member, Backing>> {
  const backings = new Map<Member, Backing>()
  for (let from = 0; from < members.length; from += ITEMS) {
    const some = members.slice(from, from + ITEMS)
    const currents = await CurrentPrices.read(
      on,
      some.map((member) => member.item_id),
    )
    await judge.prepare(on, currents)
    for (const member of some) backings.set(member, judge.backingOf(currents, member.item_id, member.market, member.label_id))
  }
  return backings
}

/** All identical prices, and prices flagged as identical that are not. */
async function membersOf(on: Queryable, noiseMinor: readonly number[], markets: Iterable<number>, byName: boolean): Promise<Member[]> {
  const named = byName ? sql`` : sql`and (${hasAverages} or ${hasOffers})`
  const marketNumbers = sql`${`{${[...markets].join(',')}}`}::int2[]`
  const { rows } = await sql<Member>`
    with noise as materialized (
      select (n - 1)::int2 as market, minor / 100 as least
      from unnest(${`{${noiseMinor.join(',')}}`}::numeric[]) with ordinality as u(minor, n)
    ), alike as materialized (
      select n, market, label_id, kind, unnest(items) as item_id from (
        select row_number() over ()::int4 as n, p.market, p.label_id, array_agg(p.item_id) as items, 
          min(${kind}) as kind
        from prices p left join items i on i.id = p.item_id and not (${hasAverages} or ${hasOffers})
        where p.market = any(${marketNumbers}) ${named}
        group by p.market, p.label_id, ${identity}
        having count(*) > 1 and p.price >= (select least from noise where noise.market = p.market)
      ) same
    )
    select a.n, p.item_id, p.market::int4 as market, p.label_id, a.kind, i.category_id, lower(i.name) as name,
      p.flags & ${sql.lit(IDENTICAL)} <> 0 as flagged, exists (
        select from prices o where o.item_id = p.item_id and o.label_id = p.label_id and o.market <> p.market and o.market > 0
      ) as several
    from alike a join prices p using (item_id, market, label_id) join items i on i.id = a.item_id
    union all
    select null, p.item_id, p.market::int4, p.label_id, 'name', 0, '', true, false
    from prices p where market = any(${marketNumbers}) ${named} and flags & ${sql.lit(IDENTICAL)} <> 0
      and not exists (select from alike a where (a.item_id, a.market, a.label_id) = (p.item_id, p.market, p.label_id))`.execute(on)
  return rows
}

/** An item with the same figures as another one. */
export interface IdenticalItem {
  id: number
  name: string
  code: string | null
}

interface Twin {
  item_id: number
  market: number
  label: string
  kind: IdentityKind
  category_id: number
  name: string
  other: IdenticalItem & { category_id: number }
}

/** Rows read for one page of reviews. */
const MAX_TWINS = 1_000

/** The items whose figures are the same as the flagged prices of these items, by `item market label`. */
export async function identicalItems(on: Queryable, itemIds: readonly number[]): Promise<Map<string, IdenticalItem[]>> {
  const flagged = sql`p.item_id = any(${itemIds}::int4[]) and p.flags & ${sql.lit(IDENTICAL)} <> 0`
  const { rows } = await sql<Twin>`
    with figures as (
      select p.item_id, p.market, p.label_id, ${kind} as kind, row(${identity}) as identity, i.category_id, i.name, i.code
      from prices p join items i on i.id = p.item_id
      where (p.market, p.label_id, p.price) in (select p.market, p.label_id, p.price from prices p where ${flagged})
    )
    select p.item_id, p.market::int4 as market, g.name as label, p.kind, p.category_id, p.name,
      json_build_object('id', o.item_id, 'name', o.name, 'code', o.code, 'category_id', o.category_id) as other
    from figures p
    join figures o on (o.market, o.label_id) = (p.market, p.label_id) and o.identity is not distinct from p.identity and o.item_id <> p.item_id
    join groups g on g.id = p.label_id
    where p.item_id = any(${itemIds}::int4[])
    order by p.item_id, o.item_id limit ${MAX_TWINS}`.execute(on)
  const alike = (category: number, name: string) => ({ categoryId: category, name: name.toLowerCase(), backing: 'open' as const })
  const found = rows.filter(({ kind, category_id: category, name, other }) =>
    areComparable(kind, alike(category, name), alike(other.category_id, other.name)),
  )
  const others = Map.groupBy(found, ({ item_id: id, market, label }) => `${id} ${market} ${label}`)
  return new Map([...others].map(([key, twins]) => [key, twins.map(({ other: { id, name, code } }) => ({ id, name, code }))]))
}
