// Changes a listing as the operator, without a new approval. Differences from the approved version are shown, and need approval when the
// owner publishes the listing after a pause.
import { checkCopies } from '#catalogue/certificates/certificate.ts'
import { conflict, invalid } from '#core/errors.ts'
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { changeMarks } from './change-stock.ts'
import { checkPrices, ListingBody, valuesOf } from './listing-body.ts'
import { itemOf, labelOfGrade } from '../references.ts'
import { certificateFor } from '../certificates/known.ts'
import { activeElsewhere, isSame } from '../certificates/taken.ts'
import { PUBLISHED } from '../records/rules.ts'
import { auditedListing, storedListing } from '../listing-content.ts'
import { act, priceValues } from './transition.ts'
import type { MarketWriteCtx, StoredListing } from '../marketplace-types.ts'

const { item_id, title, price, ...optional } = ListingBody

export const correctListing = verb(
  {
    name: 'correctListing',
    needs: 'market',
    input: Type.Object({ id: id('listing'), item_id: Type.Optional(item_id), title: Type.Optional(title), price: Type.Optional(price), ...optional }),
  },
  (ctx: MarketWriteCtx, { id, ...fields }): Promise<StoredListing> =>
    act(ctx, id, 'correct', async ({ tx, before, status, now, update, audit }) => {
      if (Object.keys(fields).length === 0) {
        throw invalid('body', 'at_least_one', { fields: Object.keys(ListingBody) })
      }
      const values = valuesOf(fields)
      const { price, quantity, ...others } = fields
      checkPrices({ ...before, ...values })
      const certificate = fields.certificate === undefined ? before.certificate : await certificateFor(tx, before.seller_id, fields.certificate)
      checkCopies(quantity ?? before.quantity, certificate)
      if (status === PUBLISHED && certificate !== null && !isSame(certificate, before.certificate)) {
        const other = (await activeElsewhere(tx, [{ id, certificate }])).get(id)
        if (other !== undefined) throw conflict('certificate_active', { id: other })
      }
      const after = await update({
        ...values,
        certificate,
        ...(fields.item_id !== undefined && { item_id: await itemOf(tx, fields.item_id) }),
        ...(fields.grade_id !== undefined && { grade_id: fields.grade_id, label_id: await labelOfGrade(tx, fields.grade_id) }),
        ...(values.price !== undefined && priceValues(status, values.price)),
        ...changeMarks(
          before.version + 1,
          { price: price !== undefined, stock: quantity !== undefined, other: Object.keys(others).length > 0 },
          null,
        ),
      })
      audit(auditedListing(before, now), auditedListing(after, now))
      return storedListing(after, now)
    }),
)
