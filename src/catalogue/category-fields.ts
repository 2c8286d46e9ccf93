// The body fields of a category, and the check of its parent.
import { orNull } from '#core/fields.ts'
import { invalid } from '#core/errors.ts'
import { Type } from '#core/input.ts'
import type { Market } from '#core/markets.ts'
import type { Tx } from '#db/schema.ts'
import { address, market, shortText, slug } from './fields.ts'
import { lockCategory } from './stored-categories.ts'

export const CategoryBody = {
  ref: Type.Optional(shortText('Unique within its market; made when absent')),
  name: shortText(),
  slug: Type.Optional(slug('Unique; made from game and name when absent')),
  game: slug('Such as `pokemon` or `onepiece`; a new one is simply a new game'),
  market: market(),
  parent_id: Type.Optional(orNull(Type.Integer({ description: 'Category of the same market; null or absent: a root' }))),
  image: Type.Optional(orNull(address('Address of an image'))),
}

/** @throws VALIDATION_ERROR where the parent is none, or is of another market */
export async function checkParent(tx: Tx, parentId: number, of: Market): Promise<void> {
  const parent = await lockCategory(tx, parentId)
  if (!parent) throw invalid('parent_id', 'unknown_id', { thing: 'category', id: parentId })
  if (parent.market !== of) {
    throw invalid('parent_id', 'category_market', { market: of, other: parent.market })
  }
}
