// An item during query execution: a catalogue row in memory whose texts are read when a field needs them.
import type { ItemTexts } from '#catalogue/index/text-arena.ts'
import type { GraphqlCtx } from './context.ts'

export interface ItemSource {
  row: number
  texts: ItemTexts | null
  details: StoredDetails | null
}

/** Details as they are stored, with the keys of the operator API. */
interface StoredDetails {
  rarity?: string
  illustrator?: string
  hp?: number
  types?: string[]
  dex_ids?: number[]
  stage?: string
  evolve_from?: string
  suffix?: string
  level?: number
}

export function itemSource(row: number): ItemSource {
  return { row, texts: null, details: null }
}

export function itemSources(rows: Int32Array): ItemSource[] {
  const sources: ItemSource[] = []
  for (let i = 0; i < rows.length; i += 1) sources.push(itemSource(rows[i]!))
  return sources
}

export function textsOf(item: ItemSource, { catalogue }: GraphqlCtx): ItemTexts {
  item.texts ??= catalogue.items.texts.get(item.row)
  return item.texts
}

export function detailsOf(item: ItemSource, ctx: GraphqlCtx): StoredDetails {
  item.details ??= JSON.parse(textsOf(item, ctx).details) as StoredDetails
  return item.details
}
