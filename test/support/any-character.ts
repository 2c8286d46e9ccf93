// Any Unicode character, for generated texts.
import fc from 'fast-check'

const SURROGATES = { first: 0xd8_00, count: 0x8_00 }

/**
 * A unit of `fc.string`: any code point except lone surrogates. The unit `binary` of fast-check builds a table of all 1.1 million code points, which
 * takes seconds in each worker.
 */
export const anyCharacter: fc.Arbitrary<string> = fc
  .integer({ min: 0, max: 0x10_ff_ff - SURROGATES.count })
  .map((position) => String.fromCodePoint(position < SURROGATES.first ? position : position + SURROGATES.count))
