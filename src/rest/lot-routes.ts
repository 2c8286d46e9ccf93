// Lots, disposals and the profit of collections (docs/decisions/collections.md).
import { type AddedDisposal, addCollectionDisposal, removeCollectionDisposal } from '#collections/lots/change-disposals.ts'
import { type AddedLot, addCollectionLot, removeCollectionLot } from '#collections/lots/change-lots.ts'
import { listCollectionDisposals, listCollectionLots } from '#collections/lots/list-lots.ts'
import {
  type Disposal,
  DisposalSchema,
  type Lot,
  LotSchema,
  type LotReadCtx,
  type LotWriteCtx,
  type Profit,
  ProfitSchema,
} from '#collections/lots/lot-types.ts'
import { readCollectionProfit } from '#collections/lots/read-profit.ts'
import { Type } from '#core/input.ts'
import type { Route } from '#http/route.ts'

const COLLECTION = '/plus/collections/:id'
const RECORD = `${COLLECTION}/items/:itemId`
const tag = 'Collections'

export const lotRoutes: Route<LotReadCtx & LotWriteCtx>[] = [
  {
    method: 'GET',
    path: `${COLLECTION}/profit`,
    verb: readCollectionProfit,
    summary: 'Profit of a collection',
    description:
      'Realised and unrealised gain in one money, or in several (`moneys[]`) from one reading. Each purchase and disposal is converted at the exchange rate of its own day, the worth of the copies left ' +
      'at the rate of today. `TRY_REAL` also corrects for consumer prices. Counts say how much of the collection the figures cover.',
    tag,
    answer: (profit: Profit) => ({ data: profit }),
    data: ProfitSchema,
  },
  {
    method: 'GET',
    path: `${RECORD}/lots`,
    verb: listCollectionLots,
    summary: 'List the lots of a record, oldest first',
    description:
      'The first lot (`id` null) is the record itself: the copies that no other lot explains, for `purchase_price` on `purchase_date`. The gains of all ' +
      "lots add up to the collection's profit.",
    tag,
    answer: (lots: Lot[]) => ({ data: lots }),
    data: Type.Array(LotSchema),
  },
  {
    method: 'POST',
    path: `${RECORD}/lots`,
    verb: addCollectionLot,
    summary: 'Add a lot to a record',
    description: 'Raises the `quantity` of the record. Accepts an `Idempotency-Key`, and `If-Match` with the `ETag` of the record.',
    tag,
    status: 201,
    answer: ({ lot, tag: etag }: AddedLot) => ({ data: lot, message: 'Lot added', etag }),
    data: LotSchema,
    errors: ['INVALID_JSON', 'PRECONDITION_FAILED'],
  },
  {
    method: 'DELETE',
    path: `${RECORD}/lots/:lotId`,
    verb: removeCollectionLot,
    summary: 'Remove a lot that was entered wrongly',
    description: 'Lowers the `quantity` of the record; refused if fewer copies are left.',
    tag,
    answer: (etag: string) => ({ data: undefined, message: 'Lot removed', etag }),
    errors: ['NOT_ENOUGH_OWNED', 'PRECONDITION_FAILED'],
  },
  {
    method: 'GET',
    path: `${RECORD}/disposals`,
    verb: listCollectionDisposals,
    summary: 'List the disposals of a record, oldest first',
    description: 'Copies that were sold or given away, with the gain of each by the `method` of the collection.',
    tag,
    answer: (disposals: Disposal[]) => ({ data: disposals }),
    data: Type.Array(DisposalSchema),
  },
  {
    method: 'POST',
    path: `${RECORD}/disposals`,
    verb: addCollectionDisposal,
    summary: 'Record copies that were sold or given away',
    description:
      'Lowers the `quantity` of the record; more than it has is refused. Accepts an `Idempotency-Key`, and `If-Match` with the `ETag` of the record.',
    tag,
    status: 201,
    answer: ({ disposal, tag: etag }: AddedDisposal) => ({ data: disposal, message: 'Disposal recorded', etag }),
    data: DisposalSchema,
    errors: ['INVALID_JSON', 'NOT_ENOUGH_OWNED', 'PRECONDITION_FAILED'],
  },
  {
    method: 'DELETE',
    path: `${RECORD}/disposals/:disposalId`,
    verb: removeCollectionDisposal,
    summary: 'Remove a disposal that was entered wrongly',
    description: 'Raises the `quantity` of the record. Disposals of orders cannot be removed.',
    tag,
    answer: (etag: string) => ({ data: undefined, message: 'Disposal removed', etag }),
    errors: ['PRECONDITION_FAILED'],
  },
]
