// Price jobs as returned by verbs.
import { orNull } from '#core/fields.ts'
import { ReasonFields, type Static, Type } from '#core/input.ts'
import { FAR_FACTOR } from '../records/market-price.ts'
import { JOB_POLICIES, JOB_STATES, ROW_OUTCOMES } from './states.ts'

const Time = (description: string) => Type.String({ format: 'date-time', description: `${description}; local time with offset` })
const TimeOrNull = (description: string) => orNull(Time(description))
const MoneyOrNull = (description: string) => orNull(Type.Number(), { description: `${description}, in TL` })

export const PriceJobRowSchema = Type.Object(
  {
    row: Type.Integer({ description: 'Position in the job, from 1' }),
    listing_id: orNull(Type.Integer(), { description: 'null if no listing matches the row' }),
    sku: orNull(Type.String(), { description: 'Set if the row names its listing by SKU' }),
    old_price: MoneyOrNull('Stock when the job was planned'),
    new_price: MoneyOrNull('null if the price stays the same'),
    old_quantity: orNull(Type.Integer(), { description: 'Stock when the job was planned' }),
    new_quantity: orNull(Type.Integer(), { description: 'null if the stock stays the same' }),
    payout: MoneyOrNull('Your payout for one unit'),
    rank: orNull(Type.Integer(), {
      description: "Price rank among other sellers' listings of the same item and grade, 1 is the cheapest; null if it would not be published",
    }),
    refused: orNull(Type.Array(Type.Object({ field: Type.String(), message: Type.String(), ...ReasonFields })), {
      description: 'Why the row cannot be applied, by field; null if it can',
    }),
    market_price: MoneyOrNull('Trusted market price of the item and grade when the job was planned, in the first such market of `MARKET_ORDER`'),
    warnings: Type.Array(Type.Object({ message: Type.String(), ...ReasonFields }), {
      description:
        `What to check: a change by more than 50 %, a price above ${FAR_FACTOR} times the market price or below it divided by ${FAR_FACTOR}, or one below ` +
        'the mean cost of a copy of the collection record that the listing sells',
    }),
    reason: orNull(Type.Object({ message: Type.String(), ...ReasonFields }), {
      description: 'Why a repricing rule sets the price; null for other jobs',
    }),
    outcome: orNull(Type.Enum([...ROW_OUTCOMES]), {
      description:
        '`changed`, or `reversed` after an undo; `kept` if the listing changed in the meantime, `failed` if it was refused; otherwise null',
    }),
    why: orNull(Type.Object({ message: Type.String(), ...ReasonFields }), { description: 'Why it is `kept` or `failed`' }),
  },
  { title: 'PriceJobRow' },
)
export type PriceJobRow = Static<typeof PriceJobRowSchema>

const Summary = {
  id: Type.Integer({ description: 'Unique id' }),
  rule_id: orNull(Type.Integer(), { description: 'Repricing rule that created the job; null for other jobs' }),
  state: Type.Enum([...JOB_STATES]),
  policy: Type.Enum([...JOB_POLICIES]),
  rows_total: Type.Integer({ description: 'Number of rows' }),
  rows_refused: Type.Integer({ description: 'Rows refused when the job was planned' }),
  changed: Type.Integer({ description: 'Rows whose listing is unchanged since the job' }),
  reversed: Type.Integer({ description: 'Rows reversed by the undo' }),
  kept: Type.Integer({ description: 'Rows skipped because their listing had changed' }),
  failed: Type.Integer({ description: 'Rows refused when they were applied or reversed' }),
  created_at: Time('When it was planned'),
  expires_at: Time('When the plan expires'),
  applied_at: TimeOrNull('When it was applied'),
  undone_at: TimeOrNull('When it was undone'),
  ignored_columns: Type.Array(Type.String(), { description: 'Columns of the CSV that were not read' }),
}
export const PriceJobSummarySchema = Type.Object(Summary, { title: 'PriceJobSummary' })
export type PriceJobSummary = Static<typeof PriceJobSummarySchema>

const Rows = Type.Array(PriceJobRowSchema, {
  description: 'Empty for an expired plan, and for an old job whose rows were deleted to make room for newer ones',
})
export const PriceJobSchema = Type.Object({ ...Summary, rows: Rows }, { title: 'PriceJob' })
export type PriceJob = Static<typeof PriceJobSchema>
