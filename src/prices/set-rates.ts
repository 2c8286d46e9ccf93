// Loads exchange rates; a rate of the same day and currency is replaced.
import { sql } from 'kysely'
import { DAY_MS } from '#core/duration.ts'
import { invalid } from '#core/errors.ts'
import { day } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/change.ts'

const EARLIEST = '1996-01-01'

const RateRow = Type.Object(
  {
    day: day('From this day on, until the next'),
    currency: Type.String({ pattern: '^[A-Z]{3}$', allowed: 'three capital letters, such as USD', examples: ['USD'] }),
    TRY: Type.Number({ minimum: 0.000001, maximum: 1_000_000_000, description: 'Turkish lira for one unit', examples: [41.87] }),
  },
  { additionalProperties: false },
)

export const setRates = verb(
  {
    name: 'setRates',
    needs: 'operator',
    input: Type.Object(
      { rates: Type.Union([RateRow, Type.Array(RateRow, { minItems: 1, maxItems: 10_000 })]) },
      { additionalProperties: false },
    ),
  },
  (ctx: WriteCtx, { rates: given }) =>
    change(ctx, async (tx, note): Promise<{ rates: number }> => {
      const rates = Array.isArray(given) ? given : [given]
      const wrong = rates.findIndex(({ day, currency }) => currency === 'TRY' || day < EARLIEST || Number.isNaN(Date.parse(day)))
      if (wrong >= 0) {
        const message = `must be of a day from ${EARLIEST} on, and of a currency other than TRY`
        throw invalid([{ field: `rates.${wrong}`, message }])
      }
      // Of a day and currency named twice the last one counts.
      const last = new Map(rates.map((rate) => [`${rate.currency} ${rate.day}`, rate]))
      const rows = [...last.values()]
      await sql`
        insert into rates (currency, day, try_rate)
        select * from unnest(${rows.map((r) => r.currency)}::text[], ${rows.map((r) => r.day)}::date[], ${rows.map((r) => String(r.TRY))}::numeric[])
        on conflict (currency, day) do update set try_rate = excluded.try_rate`.execute(tx)
      note.changed('rates', rows.map(({ day }) => Date.parse(day) / DAY_MS))
      note.audit({ action: 'rates.set', subject: 'rates', id: rows.at(-1)!.day, after: { rates: rows } })
      return { rates: rows.length }
    }),
)
