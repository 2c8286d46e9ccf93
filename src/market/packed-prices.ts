// New prices of listings as the change log carries them, so that no node reads the listings again.
import { sql, type RawBuilder } from 'kysely'

const ENTRY_BYTES = 8

/** The aggregate that packs a row's `id` and `price`. */
export const packedPrices: RawBuilder<Buffer> = sql`string_agg(int4send(id) || int4send((price * 100)::int4), '' order by id)`

export function eachNewPrice(packed: Buffer, visit: (listingId: number, kurus: number) => void): void {
  for (let at = 0; at < packed.length; at += ENTRY_BYTES) visit(packed.readInt32BE(at), packed.readInt32BE(at + 4))
}
