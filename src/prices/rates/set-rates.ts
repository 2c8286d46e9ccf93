// Sets exchange rates; an existing rate of the same day and currency is replaced.
import { invalidFields } from '#core/errors.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/changes/change.ts'
import { type Rate, rateJudge, RateRow, writeRates } from './rate-rows.ts'

export const setRates = verb(
  {
    name: 'setRates',
    needs: 'catalogue',
    input: Type.Object({ rates: Type.Union([RateRow, Type.Array(RateRow, { minItems: 1, maxItems: 10_000 })]) }),
  },
  (ctx: WriteCtx, { rates: rows }) => {
    const judge = rateJudge(ctx.now())
    const nameOf = (i: number) => (Array.isArray(rows) ? `rates.${i}` : 'rates')
    const judged = [rows].flat().map((row, i) => judge(row, { row: i }))
    const problems = judged.flatMap((one, i) => ('rule' in one ? [{ ...one, field: `${nameOf(i)}.${one.field}` }] : []))
    if (problems.length > 0) throw invalidFields(problems)
    const rates = [...new Map((judged as Rate[]).map((rate) => [`${rate.currency} ${rate.day}`, rate])).values()]
    return change(ctx, async (tx, note): Promise<{ rates: number }> => {
      await writeRates(tx, note, rates)
      note.audit({ action: 'rates.set', subject: 'rates', id: rates.at(-1)!.day, after: { rates } })
      return { rates: rates.length }
    })
  },
)
