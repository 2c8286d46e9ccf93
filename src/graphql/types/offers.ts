// Query.offers and the answers to offers, as under /plus/offers over REST.
import { Type } from '#core/input.ts'
import { PaginationSchema } from '#core/paging.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { acceptOffer, counterOffer, declineOffer } from '#market/offers/answer-offers.ts'
import { listMyOffers } from '#market/offers/list-offers.ts'
import { OfferSchema } from '#market/offers/offer-types.ts'
import { withoutNulls } from '../building/arguments.ts'
import { type Builder, cost, fromDatabase, requiresPlan } from '../building/builder.ts'
import { argumentsFrom, objectFrom } from '../building/from-schema.ts'
import { callByFields, pathOf } from './mutating.ts'

export function implementOffers(builder: Builder): void {
  const offer = objectFrom(builder, OfferSchema, {
    description: 'A price that a buyer offers for one of your listings. Times are local, with offset.',
    types: { order_id: 'Float' },
  })
  const page = objectFrom(builder, Type.Object({ offers: Type.Array(OfferSchema), pagination: PaginationSchema }, { title: 'Offers' }), {
    description: 'Offers for your listings, newest first.',
    entries: { offers: 20 },
    texts: { offers: 'Offers on the page.', pagination: 'Position of the page.' },
  })
  builder.queryField('offers', (t) =>
    t.field({
      type: page,
      description: 'Offers for your listings, newest first. Plus and Enterprise.',
      extensions: { ...cost({ weight: 10 }), ...fromDatabase, ...requiresPlan(OPERATION_PLAN.listMyOffers) },
      args: argumentsFrom(t.arg, listMyOffers.input, { types: { listing_id: 'Int' } }),
      resolve: async (_root, args, ctx, info) => {
        const { rows, pagination } = await callByFields(listMyOffers, ctx, info, withoutNulls(args))
        return { offers: rows, pagination }
      },
    }),
  )
  builder.mutationFields((t) => {
    const id = t.arg.id({ required: true, description: 'Id of an offer for one of your listings.' })
    return {
      acceptOffer: t.field({
        type: offer,
        description: 'Accepts an offer: it becomes an order at its price, or at the price of the listing if that is lower by now.',
        args: { id },
        resolve: (_root, args, ctx, info) => callByFields(acceptOffer, ctx, info, {}, pathOf(args)),
      }),
      declineOffer: t.field({
        type: offer,
        description: 'Declines an offer.',
        args: { id },
        resolve: (_root, args, ctx, info) => callByFields(declineOffer, ctx, info, {}, pathOf(args)),
      }),
      counterOffer: t.field({
        type: offer,
        description: 'Makes a counter-offer, which the buyer may accept within 48 hours.',
        args: {
          id,
          price: t.arg.float({ required: true, description: 'Price per unit in TL, above the offer and below the price of the listing.' }),
        },
        resolve: (_root, args, ctx, info) => callByFields(counterOffer, ctx, info, { price: args.price }, pathOf(args)),
      }),
    }
  })
}
