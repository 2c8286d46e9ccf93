// The card of a listing: the fields of an item that the forms show and compare with.
import type { Item } from '../../../client/src/api.ts'

export interface Card {
  id: number
  name: string
  code: string | null
  /** name of its set */
  set: string
  /** printing, such as `Holo` */
  finish: string | null
  /** the source whose prices the item shows */
  market: Item['market']
  images: { url: string; order: number }[]
}

export function cardOf({ id, name, code, category, market, images = [], attributes = [] }: Item): Card {
  const finish = attributes.find((attribute) => attribute.name === 'Finish')?.value ?? null
  return { id, name, code, set: category.name, finish, market, images: images.map(({ url, order }) => ({ url, order })) }
}

/** Number, set and printing, for a line below the name. */
export function printingOf({ code, set, finish }: Card): string {
  return [code, set, finish].filter(Boolean).join(' · ')
}
