// The body fields of an item, and what they refer to: its category, its groups, its images' order.
import { orNull } from '#core/fields.ts'
import { invalid } from '#core/errors.ts'
import { type Static, Type } from '#core/input.ts'
import type { Tx } from '#db/schema.ts'
import { address, AttributeList, closed, DetailsBody, ForeignIdList, genre, market, shortText, slug } from './fields.ts'
import type { ItemImage } from './records.ts'
import { detailsFromRow } from './details.ts'
import type { ItemWrite } from './store.ts'
import { lockCategory } from './stored-categories.ts'
import type { StoredItem } from './stored-schemas.ts'

const MOST_IMAGES = 50

export const ImageList = Type.Array(
  Type.Union([
    address('Address of an image'),
    Type.Object({ url: address(), order: Type.Optional(Type.Integer({ minimum: 0, maximum: 99 })) }, closed),
  ]),
  { maxItems: MOST_IMAGES, description: 'In the order given unless `order` says otherwise' },
)

export const ItemBody = {
  ref: Type.Optional(shortText('Unique within its market, such as `shop:4711`; made when absent')),
  name: shortText(),
  code: Type.Optional(orNull(shortText('Collector number as printed, such as `4/102`'))),
  slug: Type.Optional(slug('Unique; made from name, code and category when absent')),
  genre: Type.Optional(genre()),
  game: Type.Optional(slug("The category's when absent")),
  market: market(),
  category_id: Type.Integer({ description: 'A category of the same market' }),
  images: Type.Optional(ImageList),
  attributes: Type.Optional(AttributeList),
  groups: Type.Optional(Type.Array(Type.Integer(), { maxItems: 50, description: 'Ids of groups (GET /groups): the grades that suit the item' })),
  details: Type.Optional(DetailsBody),
  foreign_ids: Type.Optional(ForeignIdList),
}

const AllFields = Type.Object(ItemBody, closed)

/** An item's fields as a body or the stored item gives them; ref known. */
export type ItemFields = Omit<Static<typeof AllFields>, 'ref'> & { ref: string }

/**
 * The item ready to be saved.
 * @throws VALIDATION_ERROR for a category of another market, unknown groups, or two images with one order
 */
export async function resolveItem(tx: Tx, fields: ItemFields): Promise<ItemWrite> {
  const category = await lockCategory(tx, fields.category_id)
  if (!category) throw invalid('category_id', 'unknown_id', { thing: 'category', id: fields.category_id })
  if (category.market !== fields.market) {
    throw invalid('category_id', 'category_market', { market: fields.market, other: category.market })
  }
  const groupIds = [...new Set(fields.groups ?? [])]
  await checkGroups(tx, groupIds)
  const { ref, name, code = null, slug: wanted, genre: kind = 'single', game = category.game } = fields
  return {
    id: null,
    record: {
      market: fields.market,
      ref,
      name,
      code,
      ...(wanted !== undefined && { slug: wanted }),
      genre: kind,
      game,
      category: category.ref,
      images: orderedImages(fields.images ?? []),
      attributes: fields.attributes ?? [],
      groups: [],
      details: detailsFromRow(Object.fromEntries(Object.entries(fields.details ?? {}).filter(([, value]) => value !== null))),
      foreignIds: fields.foreign_ids ?? [],
    },
    categoryId: category.id,
    categoryName: category.name,
    groupIds,
  }
}

/** The stored item as fields, for a change that names only some. */
export function fieldsOf(item: StoredItem): ItemFields {
  const { ref, name, code, slug, genre, game, market, category_id, images, attributes, groups, details, foreign_ids } = item
  return { ref, name, code, slug, genre, game, market, category_id, images, attributes, groups, details, foreign_ids }
}

async function checkGroups(tx: Tx, ids: number[]): Promise<void> {
  if (ids.length === 0) return
  const groups = await tx.selectFrom('groups').select(['id', 'name']).where('parent_id', 'is', null).orderBy('id').execute()
  if (ids.every((id) => groups.some((group) => group.id === id))) return
  throw invalid('groups', 'group_ids', { values: groups.map(({ id, name }) => `${id} (${name})`) })
}

/** @throws VALIDATION_ERROR for two images with one order */
export function orderedImages(images: Static<typeof ImageList>): ItemImage[] {
  const ordered = images.map((image, i) =>
    typeof image === 'string' ? { url: image, order: i + 1 } : { url: image.url, order: image.order ?? i + 1 },
  )
  if (new Set(ordered.map((image) => image.order)).size < ordered.length) {
    throw invalid('images', 'same_order')
  }
  return ordered.sort((a, b) => a.order - b.order)
}
