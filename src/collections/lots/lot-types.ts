// Lots, disposals and profits as returned by verbs: public field names, ready for JSON.
import { orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { MARKETS } from '#core/markets.ts'
import type { WriteCtx } from '#db/changes/change.ts'
import { type CollectionReadCtx, MethodSchema, type RecordWriteCtx } from '../records/types.ts'
import { CurrencySchema } from './moneys.ts'
import { LOT_SOURCES } from './stored-history.ts'

export type LotReadCtx = CollectionReadCtx & Pick<WriteCtx, 'now'>
export type LotWriteCtx = CollectionReadCtx & RecordWriteCtx

const Day = (description: string) => Type.String({ format: 'date', description })
const Copies = (description: string) => Type.Integer({ description })
const Amount = (description: string) => Type.Number({ description })
const AmountOrNull = (description: string) => orNull(Type.Number(), { description })
const Stated = Type.String({ description: 'Currency of the amounts as they were entered', examples: ['TRY'] })

export const LotSchema = Type.Object(
  {
    id: orNull(Type.Integer(), { description: "Id of the lot; null for the record's own first lot" }),
    acquired_at: Day('Day of purchase; of a first lot without `purchase_date`, the day on which the record was added'),
    quantity: Copies('Copies'),
    unit_cost: AmountOrNull('Price paid per copy; null if unknown. `pulled` and `gift` then cost nothing'),
    fees: Amount('Fees of the whole lot, part of its cost'),
    currency: Stated,
    source: Type.Enum([...LOT_SOURCES], {
      description: 'How the copies were acquired: `bought`, `pulled` from a pack, `traded`, `gift`, or `order` in the market',
    }),
    money: CurrencySchema,
    cost: AmountOrNull('In `money`: cost of all copies, with fees; null if unknown or without a rate'),
    rest: Copies('Copies left'),
    rest_cost: AmountOrNull('In `money`: cost of the copies left'),
    realised: AmountOrNull('In `money`: gain of the copies that were disposed of; null if the cost is unknown'),
    value: AmountOrNull('In `money`: worth of the copies left; null without a trusted price'),
    gain: AmountOrNull('In `money`: `realised`, plus `value` less `rest_cost` if there is a value; null if the cost is unknown'),
  },
  { title: 'CollectionLot', description: 'Copies of a record that were acquired together' },
)
export type Lot = Static<typeof LotSchema>

export const DisposalSchema = Type.Object(
  {
    id: Type.Integer({ description: 'Id of the disposal' }),
    at: Day('Day of the disposal'),
    quantity: Copies('Copies'),
    gross: Amount('Received for all copies, before fees and shipping'),
    fees: Amount('Fees for all copies'),
    shipping: Amount('Shipping paid for all copies'),
    currency: Stated,
    order_id: orNull(Type.Integer(), { description: 'Order in the market that sold the copies; null for other disposals' }),
    line: orNull(Type.Integer(), { description: 'Line of that order' }),
    returned_at: orNull(Type.String({ format: 'date' }), { description: 'Day on which the copies came back; the disposal then has no gain' }),
    money: CurrencySchema,
    net: AmountOrNull('In `money`: `gross` less `fees` and `shipping`; null without a rate'),
    cost: AmountOrNull('In `money`: cost of the copies, as far as it is known; null if it is known of none'),
    realised: AmountOrNull('In `money`: gain of the copies whose cost is known; null if there are none'),
    without_cost: Copies('Copies whose cost is unknown: they are in no gain'),
  },
  { title: 'CollectionDisposal', description: 'Copies of a record that were sold or given away together' },
)
export type Disposal = Static<typeof DisposalSchema>

const Records = (description: string) => Type.Integer({ description })

/** Records in `best` and in `worst`. */
export const MOST_RANKED = 5

const ProfitRecordSchema = Type.Object(
  {
    record_id: Type.Integer({ description: 'Id of the record' }),
    item_id: Type.Integer({ description: 'Id of the item' }),
    item_name: Type.String({ description: 'Name of the item' }),
    group_label: orNull(Type.String({ description: 'Condition or grade', examples: ['Near Mint'] })),
    quantity: Copies('Copies left'),
    gain: Amount('Realised and unrealised gain of the record'),
  },
  { title: 'ProfitRecord', description: 'A record and its part in the gain of its collection' },
)
export type ProfitRecord = Static<typeof ProfitRecordSchema>

const PROFIT_IN_MONEY = {
  method: MethodSchema,
  currency: CurrencySchema,
  until: Day('Last day whose purchases, disposals and returns count'),
  realised: Amount('Gain of the copies that were disposed of: net proceeds less cost'),
  unrealised: AmountOrNull('Value less cost of the copies left that have both; null on an earlier day, because past prices were not judged'),
  fees: Amount('Fees and shipping of lots and disposals; they are already in the gains'),
  cost: Amount('Cost of the copies left, as far as it is known'),
  value: AmountOrNull('Worth of the copies left, as far as they have a trusted price; null on an earlier day'),
  xirr: orNull(Type.Number(), {
    description:
      'Yearly rate of return, such as 0.12 for 12 %, of the copies in the gains; null if `unrealised` is, below 30 days and without a change of sign; at least -0.999999',
  }),
  basis: Type.Array(
    Type.Object(
      {
        kind: Type.Enum(['trusted_price'], { description: 'Kind of the value' }),
        market: Type.Enum([...MARKETS], { description: 'Market of the prices' }),
        records: Records('Records valued by these prices'),
        value: Amount('Worth of their copies'),
      },
      { title: 'ProfitBasis', description: 'Prices that a value is based on' },
    ),
    { description: 'What `value` is based on, by market' },
  ),
  cpi_month: orNull(Type.String(), {
    description: 'For `TRY_REAL`: the last month with published consumer prices, whose lira all amounts are in; null for other currencies',
  }),
  priced: Records('Records with copies left and a trusted price'),
  unpriced: Records('Records with copies left and without any price for their grade'),
  disputed: Records('Records with copies left whose price is disputed'),
  unproven: Records('Records with copies left whose price of the service has too few people behind it'),
  stale: Records('Records with copies left whose price is stale'),
  without_cost: Records('Records with copies, left or disposed of, whose cost is unknown: those are in no gain'),
  without_rate: Records('Records with an amount that has no exchange rate, or no index, of its day or earlier: it is in no sum'),
  best: Type.Array(ProfitRecordSchema, { description: `At most ${MOST_RANKED} records with the highest gains, the highest first` }),
  worst: Type.Array(ProfitRecordSchema, { description: `At most ${MOST_RANKED} records with the highest losses, the highest first` }),
}

export const ProfitInMoneySchema = Type.Object(PROFIT_IN_MONEY, {
  title: 'CollectionProfitInMoney',
  description: 'Profit of a collection in one money',
})
export type ProfitInMoney = Static<typeof ProfitInMoneySchema>

export const ProfitSchema = Type.Object(
  {
    ...PROFIT_IN_MONEY,
    moneys: orNull(Type.Array(ProfitInMoneySchema), {
      description: 'The profit in each of the moneys that the parameter `moneys` names, in their order; null without it',
    }),
  },
  { title: 'CollectionProfit' },
)
export type Profit = Static<typeof ProfitSchema>
