// A sold order line as its seller sees it.
import type { StatementRow } from './own-sales-store.ts'
import type { OwnSale } from '../sale-schemas.ts'

type SoldLine = Omit<OwnSale, 'sold_at' | 'cancelled_at' | 'refunded'>
type SoldRow = Omit<StatementRow, 'at' | 'turn' | 'sale_id' | 'amount'>

/** Amounts of the database are decimal texts; as JSON numbers they are exact, see core/money.ts. */
export function soldLine({ order_id, line, listing_id, item_id: id, name, code, slug, label, quantity, ...amounts }: SoldRow): SoldLine {
  return {
    order_id,
    line,
    listing_id,
    item: { id, name, code, slug },
    label,
    quantity,
    unit_price: Number(amounts.unit_price),
    commission: Number(amounts.commission),
    payout: Number(amounts.payout),
  }
}
