// Sets values of price indices; an existing value of the same index and month is replaced.
import { sql } from 'kysely'
import { invalidFields } from '#core/errors.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/changes/change.ts'
import { indexJudge, indexKey, IndexRow, MAX_INDEX_ROWS } from './index-rows.ts'

export const setIndices = verb(
  {
    name: 'setIndices',
    needs: 'catalogue',
    input: Type.Object({ indices: Type.Union([IndexRow, Type.Array(IndexRow, { minItems: 1, maxItems: MAX_INDEX_ROWS })]) }),
  },
  (ctx: WriteCtx, { indices: sent }) => {
    const given = [sent].flat()
    const fieldOf = (i: number) => (Array.isArray(sent) ? `indices.${i}` : 'indices')
    const judge = indexJudge(ctx.now())
    const problems = given.flatMap((row, i) => judge(row, { row: i }).map((one) => ({ ...one, field: `${fieldOf(i)}.${one.field}` })))
    if (problems.length > 0) throw invalidFields(problems)
    const rows = [...new Map(given.map((row) => [indexKey(row), row])).values()]
    return change(ctx, async (tx, note): Promise<{ indices: number }> => {
      await sql`
        insert into price_indices (name, month, value)
        select * from unnest(${rows.map((row) => row.index)}::text[], ${rows.map((row) => row.month)}::text[],
                             ${rows.map((row) => String(row.value))}::numeric[])
        on conflict (name, month) do update set value = excluded.value`.execute(tx)
      note.audit({ action: 'indices.set', subject: 'indices', id: rows.at(-1)!.month, after: { indices: rows } })
      return { indices: rows.length }
    })
  },
)
