// Decides that a pending record matches none of its candidates and becomes a separate item.
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import type { PriceWriteCtx } from '#prices/records/price-types.ts'
import { decideMatch, namedRecords } from './decide-match.ts'

export const separateMatch = verb(
  { name: 'separateMatch', needs: 'catalogue', input: Type.Object({ id: id('match') }) },
  (ctx: PriceWriteCtx, { id }) =>
    decideMatch(ctx, id, {
      decision: 'separated',
      verdicts: async (tx, { record_id: recordId, candidates }) => {
        const [record, ...others] = await namedRecords(tx, [recordId, ...candidates.map((candidate) => candidate.record_id)])
        return [{ kind: 'apart', pairs: others.map(({ key }) => [record!.key, key]) }]
      },
    }),
)
