// Lists sets whose usual ratio between two markets is too far from the game's to be applied without an operator's decision.
import { sql } from 'kysely'
import { orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { MARKETS } from '#core/markets.ts'
import { listVerb } from '#core/paging.ts'
import type { ReadCtx } from '#db/changes/change.ts'
import type { Queryable } from '#db/schema.ts'
import { RATIO_DECISIONS, RATIO_STATES, type RatioBeyondLimit, ratioKey } from '../evidence/ratios.ts'
import { factorBetween } from '../evidence/thresholds.ts'
import { FINISH, loadUsualRatios, ratioDecisions } from '../judging/usual-ratios.ts'

/** Cards shown for each ratio. */
const EXAMPLES = 5

const Market = Type.Enum([...MARKETS])

/** What a ratio is about. */
export const RatioFields = {
  category_id: Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1, description: 'The set' }),
  finish: orNull(Type.String({ maxLength: 200, description: 'In lower case; null for items without a finish' })),
  market: Market,
  other_market: Market,
}

export const UsualRatioSchema = Type.Object(
  {
    ...RatioFields,
    category: Type.String({ description: 'Name of the set' }),
    game: Type.String(),
    ratio: Type.Number({
      description: 'Usual price in `other_market` for an amount of 1 in `market`, both in one currency, among the cards of the set',
    }),
    game_ratio: Type.Number({ description: 'The same among the cards of that finish in the game, or of the game' }),
    applied_ratio: Type.Number({ description: 'Ratio by which prices of the set are compared' }),
    spread: Type.Number({ description: 'Factor within which about two thirds of the cards deviate from `ratio`' }),
    cards: Type.Integer({ description: 'Cards of the set with prices in both markets' }),
    state: Type.Enum([...RATIO_STATES], {
      description: '`open`: awaits a decision, also if the ratio has moved by half or more since the last one',
    }),
    decided: orNull(
      Type.Object(
        {
          decision: Type.Enum([...RATIO_DECISIONS]),
          ratio: Type.Number({ description: 'The ratio then' }),
          by: Type.String(),
          at: Type.String({ format: 'date-time', description: 'UTC' }),
        },
        { title: 'UsualRatioDecision' },
      ),
      { description: 'The last decision' },
    ),
    prices: Type.Array(
      Type.Object(
        {
          item_id: Type.Integer(),
          name: Type.String(),
          label: Type.String(),
          price: Type.Number({ description: 'In `market`, in its currency' }),
          other_price: Type.Number({ description: 'In `other_market`, in its currency' }),
        },
        { title: 'UsualRatioPrices' },
      ),
      { description: `The ${EXAMPLES} highest prices of the set that both markets have` },
    ),
  },
  { title: 'UsualRatio' },
)
export type UsualRatio = Static<typeof UsualRatioSchema>

export const listUsualRatios = listVerb(
  {
    name: 'listUsualRatios',
    needs: 'operator',
    filters: { state: Type.Optional(Type.Enum([...RATIO_STATES])) },
  },
  async ({ db }: ReadCtx, { state }, { limit, offset }) => {
    const found = (await loadUsualRatios(db.kysely)).beyondLimit().filter((ratio) => state === undefined || ratio.state === state)
    found.sort((a, b) => farness(b) - farness(a) || (ratioKey(a) < ratioKey(b) ? -1 : 1))
    return { rows: await shownRatios(db.kysely, found.slice(offset, offset + limit)), total: found.length }
  },
)

/** Number of ratios that await a decision. */
export async function openUsualRatios(on: Queryable): Promise<number> {
  return (await loadUsualRatios(on)).beyondLimit().filter(({ state }) => state === 'open').length
}

/** Ratios as operators see them. */
export async function shownRatios(on: Queryable, ratios: readonly RatioBeyondLimit[]): Promise<UsualRatio[]> {
  if (ratios.length === 0) return []
  const decisions = await ratioDecisions(on)
  const { rows } = await sql<Pick<UsualRatio, 'category' | 'prices'>>`
    select coalesce((select name from categories where id = g.category_id), '') as category, (
      select coalesce(jsonb_agg(jsonb_build_object('item_id', e.id, 'name', e.name, 'label', e.label, 'price', e.price, 'other_price', e.other_price)
        order by e.price desc, e.id), '[]')
      from (
        select i.id, i.name, l.name as label, a.price, b.price as other_price
        from items i join prices a on a.item_id = i.id and a.market = g.market_a
        join prices b on b.item_id = i.id and b.market = g.market_b and b.label_id = a.label_id join groups l on l.id = a.label_id
        where i.category_id = g.category_id and ${sql.raw(FINISH)} = g.finish
        order by a.price desc, i.id limit ${sql.lit(EXAMPLES)}
      ) e
    ) as prices
    from unnest(${ratios.map((r) => r.categoryId)}::int4[], ${ratios.map((r) => r.finish)}::text[], ${ratios.map((r) => r.marketA)}::int2[],
      ${ratios.map((r) => r.marketB)}::int2[]) with ordinality as g(category_id, finish, market_a, market_b, n)
    order by g.n`.execute(on)
  return ratios.map((ratio, n) => {
    const decided = decisions.get(ratioKey(ratio))
    return {
      ...rows[n]!,
      category_id: ratio.categoryId,
      game: ratio.game,
      finish: ratio.finish || null,
      market: MARKETS[ratio.marketA]!,
      other_market: MARKETS[ratio.marketB]!,
      ratio: ratio.ratio,
      game_ratio: ratio.ofGame,
      applied_ratio: ratio.applied,
      spread: ratio.spread,
      cards: ratio.cards,
      state: ratio.state,
      decided: decided ? { decision: decided.decision, ratio: decided.ratio, by: decided.author, at: decided.at.toISOString() } : null,
    }
  })
}

const farness = ({ ratio, ofGame }: RatioBeyondLimit) => factorBetween(ratio, ofGame)
