// Sets what may be done with the prices of a source, and their licence.
import { sql } from 'kysely'
import { invalid } from '#core/errors.ts'
import { orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { MARKETS } from '#core/markets.ts'
import { verb } from '#core/verb.ts'
import { actorOf, change, type WriteCtx } from '#db/changes/change.ts'
import { loadSourceTerms, lockSourceTerms, MAX_LICENCE_LENGTH, noteItemsOf, SOURCE_USES, writeSourceTerms } from '../records/source-terms.ts'

export const SourceTermsFields = {
  use: Type.Enum([...SOURCE_USES], {
    description:
      '`internal`: only evidence for judging other prices; `show`: also shown to API keys over REST and GraphQL; `redistribute`: also in dumps, changes, mirrors, exports and MCP',
  }),
  licence: orNull(Type.String({ description: 'Licence of the prices, or terms of their source' })),
}

export const ChangedSourceSchema = Type.Object(
  {
    market: Type.Enum([...MARKETS]),
    ...SourceTermsFields,
    prices: Type.Integer({ description: 'Current prices of the source' }),
  },
  { title: 'SourceUsage' },
)
export type ChangedSource = Static<typeof ChangedSourceSchema>

export const changeSource = verb(
  {
    name: 'changeSource',
    needs: 'catalogue',
    input: Type.Object({
      market: Type.Enum([...MARKETS]),
      use: Type.Optional(SourceTermsFields.use),
      licence: Type.Optional(orNull(Type.String({ maxLength: MAX_LICENCE_LENGTH, description: 'null or an empty text removes it' }))),
    }),
  },
  (ctx: WriteCtx, { market, use, licence }): Promise<ChangedSource> => {
    if (use === undefined && licence === undefined) throw invalid('body', 'at_least_one', { fields: ['use', 'licence'] })
    const position = MARKETS.indexOf(market)
    return change(ctx, async (tx, note) => {
      await lockSourceTerms(tx)
      const before = (await loadSourceTerms(tx))[position]!
      const after = { use: use ?? before.use, licence: licence === undefined ? before.licence : licence?.trim() || null, author: actorOf(ctx.viewer) }
      await writeSourceTerms(tx, note, position, after, ctx.now())
      if (after.use !== before.use) await noteItemsOf(tx, note, position)
      const shown = ({ use, licence }: typeof after | typeof before) => ({ use, licence })
      note.audit({ action: 'source.change', subject: 'source', id: market, before: shown(before), after: shown(after) })
      const { rows } = await sql<{ prices: number }>`select count(*)::int4 as prices from prices where market = ${position}`.execute(tx)
      return { market, ...shown(after), prices: rows[0]!.prices }
    })
  },
)
