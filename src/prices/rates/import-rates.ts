// Loads exchange rates from a CSV with the columns `currency`, `day` and `rate`. An invalid row is reported and does not reject the others.
import { ServiceError } from '#core/errors.ts'
import { csvRows, type FeedSource } from '#core/files/feed.ts'
import { bodyReader, Type } from '#core/input.ts'
import { type Reason, textOf, combineProblems } from '#core/problems.ts'
import { verb } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/changes/change.ts'
import { type GivenRate, type Rate, rateJudge, RateRow, writeRates } from './rate-rows.ts'

const COLUMNS = ['currency', 'day', 'rate']

export interface RatesReport {
  /** number of loaded rates */
  rates: number
  refused: { line: number; message: string }[]
}

/** @throws FeedError if the file is not such a CSV */
export const importRates = verb(
  { name: 'importRates', needs: 'catalogue', input: Type.Object({ file: Type.Unknown() }) },
  async (ctx: WriteCtx, { file }): Promise<RatesReport> => {
    const rates = new Map<string, Rate>()
    const refused: RatesReport['refused'] = []
    const judge = rateJudge(ctx.now())
    for await (const lines of csvRows(file as FeedSource, COLUMNS)) {
      for (const row of lines) {
        const read = 'reject' in row ? row.reject : rowOf(row.value)
        const rate = 'rule' in read ? read : judge(read, { line: row.line })
        if ('rule' in rate) refused.push({ line: row.line, message: textOf(rate) })
        else rates.set(`${rate.currency} ${rate.day}`, rate)
      }
    }
    if (rates.size === 0) return { rates: 0, refused }
    const days = [...rates.values()].map(({ day }) => day).sort()
    return change(ctx, async (tx, note) => {
      await writeRates(tx, note, [...rates.values()])
      note.audit({ action: 'rates.import', subject: 'rates', id: days.at(-1)!, after: { rates: rates.size, from: days[0], to: days.at(-1) } })
      return { rates: rates.size, refused }
    })
  },
)

const readRow = bodyReader(RateRow)

function rowOf(cells: Record<string, string>): GivenRate | Reason {
  const [currency, day, rate] = COLUMNS.map((name) => cells[name]!.trim())
  try {
    return readRow({ currency, day, rate: /^\d+(\.\d+)?$/.test(rate!) ? Number(rate) : rate })
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return combineProblems(error.details)
  }
}
