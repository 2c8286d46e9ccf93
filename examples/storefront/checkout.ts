// Hands a checked basket over to the shop's own checkout, server to server.
import { kurusOf } from './money.ts'
import type { CheckedLine } from './shop.ts'

const TIMEOUT_MS = 10_000

export const totalKurus = (lines: readonly CheckedLine[]): number =>
  lines.reduce((sum, { listing, quantity }) => sum + (listing ? kurusOf(listing.price) * quantity : 0), 0)

/** Sends the lines to the checkout. @returns the page of the checkout to which the buyer is sent @throws Error unless it answers with one */
export async function handOver(checkout: URL, token: string | undefined, lines: readonly CheckedLine[]): Promise<URL> {
  const body = {
    lines: lines.flatMap(({ listing, quantity }) =>
      listing ? [{ listing_id: listing.id, item_id: listing.item?.id ?? null, title: listing.title, quantity, unit_price: listing.price }] : [],
    ),
    total: totalKurus(lines) / 100,
    currency: 'TRY',
  }
  const response = await fetch(checkout, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token !== undefined && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify(body),
    redirect: 'manual',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  await response.body?.cancel()
  const location = response.headers.get('location')
  if (response.status !== 303 || location === null) throw new Error(`The checkout answered ${response.status}, not 303 with a Location`)
  const page = new URL(location, checkout)
  // The content security policy allows no other origin.
  if (page.origin !== checkout.origin) throw new Error(`The checkout answered a Location outside of ${checkout.origin}`)
  return page
}
