// Price jobs as verbs give them.
import { orNull } from '#core/fields.ts'
import { ReasonFields, type Static, Type } from '#core/input.ts'
import { JOB_POLICIES, JOB_STATES, ROW_OUTCOMES } from './states.ts'

const Time = (description: string) => Type.String({ format: 'date-time', description: `${description}; local time with offset` })
const TimeOrNull = (description: string) => orNull(Time(description))
const MoneyOrNull = (description: string) => orNull(Type.Number(), { description: `${description}, in TL` })

export const PriceJobRowSchema = Type.Object(
  {
    row: Type.Integer({ description: 'Position in the job, from 1' }),
    listing_id: orNull(Type.Integer(), { description: 'null where the row names no listing' }),
    sku: orNull(Type.String(), { description: 'Where the row names its listing by SKU' }),
    old_price: MoneyOrNull('When the job was planned'),
    new_price: MoneyOrNull('null where the price stays'),
    old_quantity: orNull(Type.Integer(), { description: 'When the job was planned' }),
    new_quantity: orNull(Type.Integer(), { description: 'null where the stock stays' }),
    payout: MoneyOrNull('What a sale of one unit would pay you'),
    rank: orNull(Type.Integer(), {
      description: 'Place by price among listings of other sellers with the same item and grade, 1 is cheapest; null where it would not be published',
    }),
    refused: orNull(Type.Array(Type.Object({ field: Type.String(), message: Type.String(), ...ReasonFields })), {
      description: 'Why the row cannot be applied, by field; null where it can',
    }),
    reason: orNull(Type.Object({ message: Type.String(), ...ReasonFields }), {
      description: 'Why a repricing rule sets the price; null in other jobs',
    }),
    outcome: orNull(Type.Enum([...ROW_OUTCOMES]), {
      description: '`changed`, or after an undo `reversed`; `kept` where the listing had changed since, `failed` where it was refused; else null',
    }),
    why: orNull(Type.Object({ message: Type.String(), ...ReasonFields }), { description: 'Why it is `kept` or `failed`' }),
  },
  { title: 'PriceJobRow' },
)
export type PriceJobRow = Static<typeof PriceJobRowSchema>

const Summary = {
  id: Type.Integer(),
  rule_id: orNull(Type.Integer(), { description: 'The repricing rule whose run it is; null for others' }),
  state: Type.Enum([...JOB_STATES]),
  policy: Type.Enum([...JOB_POLICIES]),
  rows_total: Type.Integer(),
  rows_refused: Type.Integer({ description: 'Rows that were refused when the job was planned' }),
  changed: Type.Integer({ description: 'Rows whose listing is as the job left it' }),
  reversed: Type.Integer({ description: 'Rows that the undo has reversed' }),
  kept: Type.Integer({ description: 'Rows left alone, since their listing had changed' }),
  failed: Type.Integer({ description: 'Rows refused when they were applied or reversed' }),
  created_at: Time('When it was planned'),
  expires_at: Time('Until when a plan can be applied'),
  applied_at: TimeOrNull('When it was applied'),
  undone_at: TimeOrNull('When it was undone'),
}
export const PriceJobSummarySchema = Type.Object(Summary, { title: 'PriceJobSummary' })
export type PriceJobSummary = Static<typeof PriceJobSummarySchema>

export const PriceJobSchema = Type.Object({ ...Summary, rows: Type.Array(PriceJobRowSchema) }, { title: 'PriceJob' })
export type PriceJob = Static<typeof PriceJobSchema>
