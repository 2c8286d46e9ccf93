// Fields of categories and items, shared by request bodies and our own file format.
import { MAX_INTEGER, orNull } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { MARKETS } from '#core/markets.ts'
import { type Reason, reason } from '#core/problems.ts'
import { CATALOGUE_TEXT, LINES } from '#core/text.ts'
import { SAMPLE_PICTURES } from './image-addresses.ts'
import { GENRES } from './catalogue-records.ts'

export const closed = { additionalProperties: false } as const

/** Text that matches a pattern; `allowed` is the rule named in an error. */
export function matching(pattern: string, maxLength: number, allowed: Reason, description?: string) {
  return Type.String({ pattern, maxLength, allowed, ...(description && { description }) })
}

/** One line of visible text of at most 500 characters, without spaces at its ends. */
export function shortText(description?: string) {
  return matching(
    CATALOGUE_TEXT,
    500,
    reason('text', { min: 1, max: 500, form: 'without spaces at its ends and bidirectional controls' }),
    description,
  )
}

export function slug(description?: string) {
  return matching('^[a-z0-9]+(-[a-z0-9]+)*$', 300, reason('slug'), description)
}

/** Address of an image: at its source, or of a sample picture that this program serves. */
export function address(description?: string) {
  const pattern = `^(https?://[^\\s\\u0000\\p{Cs}]+|${SAMPLE_PICTURES}[a-z0-9-]+\\.svg)$`
  return matching(pattern, 2000, reason('url', { values: ['http://', 'https://'] }), description)
}

export function positive() {
  return Type.Integer({ minimum: 1, maximum: MAX_INTEGER })
}

export function market(description?: string) {
  return Type.Enum([...MARKETS], { ...(description && { description }) })
}

/** Genre of an item: a single card, a sealed product or a bundle. */
export function genre() {
  return Type.Enum([...GENRES])
}

export const AttributeList = Type.Array(
  Type.Object({ name: shortText(), value: matching(LINES, 10_000, reason('text', { max: 10_000, form: 'without bidirectional controls' })) }, closed),
  { maxItems: 200, description: 'Shown in this order', examples: [[{ name: 'Rarity', value: 'Rare Holo' }]] },
)

export const ForeignIdList = Type.Array(Type.Object({ source: slug(), id: shortText(), finish: Type.Optional(shortText()) }, closed), {
  maxItems: 200,
  description: 'Ids of the item in other systems; price feeds match by them',
})

const DETAIL = {
  rarity: shortText(),
  illustrator: shortText(),
  hp: positive(),
  types: Type.Array(shortText(), { maxItems: 50 }),
  dex_ids: Type.Array(positive(), { maxItems: 50 }),
  stage: shortText(),
  evolve_from: shortText(),
  suffix: shortText(),
  level: positive(),
  names: Type.Array(shortText(), { maxItems: 50, description: 'The name in other languages, used by search' }),
}

export const Details = Type.Partial(Type.Object(DETAIL), closed)

/** Details as in request bodies: null is the same as absent. */
export const DetailsBody = Type.Object(
  {
    rarity: Type.Optional(orNull(DETAIL.rarity)),
    illustrator: Type.Optional(orNull(DETAIL.illustrator)),
    hp: Type.Optional(orNull(DETAIL.hp)),
    types: Type.Optional(orNull(DETAIL.types)),
    dex_ids: Type.Optional(orNull(DETAIL.dex_ids)),
    stage: Type.Optional(orNull(DETAIL.stage)),
    evolve_from: Type.Optional(orNull(DETAIL.evolve_from)),
    suffix: Type.Optional(orNull(DETAIL.suffix)),
    level: Type.Optional(orNull(DETAIL.level)),
    names: Type.Optional(orNull(DETAIL.names)),
  },
  closed,
)
