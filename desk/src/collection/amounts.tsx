// Amounts of records: worth with its market, cost and gain.
import type { CollectionRecord } from '../../../client/src/api.ts'
import { money, termText } from '../words.ts'

export function AmountOf({ of: amount }: { of: CollectionRecord['cost'] }) {
  return <>{amount ? money(amount.amount, amount.currency) : '–'}</>
}

/** The worth and the market of its price, or why there is none. */
export function RecordValue({ of: { value, value_missing: missing } }: { of: CollectionRecord }) {
  if (!value) return <span class="quiet">{missing ? termText('valueMissing', missing) : '–'}</span>
  return (
    <>
      {money(value.amount, value.currency)} <small class="quiet">{termText('market', value.market)}</small>
    </>
  )
}
