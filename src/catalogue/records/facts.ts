// Merges the facts of an item's source records by precedence, value by value, with the source of each.
import type { Market } from '#core/markets.ts'
import { finishRules, finishSlug } from './finishes.ts'
import type { ForeignId, Genre, ItemImage, ItemRecord } from './catalogue-records.ts'
import { detailsToRow } from './details.ts'

/** Sources in order of precedence, most trusted first; unlisted ones come last. Imports never override operators. */
export const PRECEDENCE: readonly string[] = [
  'operator',
  'mintmark',
  'tcgdex',
  'tcgdex-asia',
  'tcgdex-api',
  'pokemontcg',
  'punk-records',
  'cardmarket',
  'tcgplayer',
]

/**
 * The facts that a source states, as stored. An absent field is not stated; null, which only operators can state, means that the item
 * has no value. Details use the names of `detailsToRow`.
 */
export interface Facts {
  market?: Market
  ref?: string
  /** ref of a category in the same market */
  category?: string
  name?: string
  code?: string | null
  slug?: string
  genre?: Genre
  game?: string
  images?: ItemImage[]
  groups?: string[]
  /** several attributes may have the same name */
  attributes?: { name: string; value: string | null }[]
  details?: Record<string, unknown>
  foreign_ids?: ForeignId[]
  /** foreign ids that an operator removed, regardless of their source */
  without_ids?: ForeignId[]
}

export interface StatedFacts {
  source: string
  /** '' if the record states no finish */
  finish: string
  /** the record applies to every finish of its card and does not identify one item */
  whole: boolean
  /** stated by an operator about an item that was merged into this one; the survivor's own facts win */
  merged?: boolean
  facts: Facts
}

/** The source of each field: `name`, `images`, `details.hp`, `attributes.Rarity`, `foreign_ids.cardmarket`. */
export type Provenance = Record<string, string>

const IDENTITY = ['market', 'ref', 'category'] as const
const LANGUAGE = 'Language'
const SINGLE = ['name', 'code', 'genre', 'game', 'images', 'groups'] as const

/** Position of a source in the order of precedence. */
export function rankOf(source: string): number {
  const rank = PRECEDENCE.indexOf(source)
  return rank < 0 ? PRECEDENCE.length : rank
}

/** The finish that a record states; in a record of our own export, it is one of the attributes. */
function finishOf({ source, finish, facts }: StatedFacts): string {
  if (finish !== '' || source !== 'mintmark') return finish
  const shown = facts.attributes?.find(({ name }) => name === 'Finish')?.value
  return shown ? finishSlug(shown, finishRules(facts.game ?? '')) : ''
}

/**
 * Merges the facts of an item's records: each value comes from the first record by precedence that states it; within a source, from
 * the first in the list. A value that a record does not state removes nothing.
 */
export function factsOf(records: readonly StatedFacts[]): { facts: Facts; provenance: Provenance } {
  const provenance: Provenance = {}
  return { facts: mergedFacts(records, provenance), provenance }
}

/** The facts of `factsOf`. @param provenance to which the source of each value is added; null if nobody needs it: an import merges thousands */
export function mergedFacts(records: readonly StatedFacts[], provenance: Provenance | null = null): Facts {
  const ordered = records.toSorted((a, b) => stateRank(a) - stateRank(b) || Number(a.whole) - Number(b.whole))
  const finish = ordered.map((record) => (record.whole ? '' : finishOf(record))).find(Boolean) ?? ''
  const facts: Facts = {}
  for (const field of IDENTITY) takeFirst(facts, provenance, byIdentity(records), field)
  takeFirst(
    facts,
    provenance,
    // The slug of a merged item stays reserved for it, so that undoing the merge can restore it.
    byIdentity(records).filter(({ merged }) => !merged),
    'slug',
  )
  for (const field of SINGLE) takeFirst(facts, provenance, ordered, field)
  facts.attributes = attributesOf(ordered, provenance)
  facts.details = detailsOf(ordered, provenance)
  addLanguages(facts, ordered, provenance)
  facts.foreign_ids = foreignIdsOf(ordered, finish, provenance)
  return facts
}

/** Records in the order in which they identify the item. Records of the whole card come last, because they also apply to other items. */
export function byIdentity<T extends FactSource>(records: readonly T[]): readonly T[] {
  if (records.length === 1) return records
  return records.toSorted((a, b) => Number(a.whole) - Number(b.whole) || stateRank(a) - stateRank(b))
}

type FactSource = Pick<StatedFacts, 'source' | 'whole' | 'merged'>

function stateRank({ source, merged }: FactSource): number {
  return merged ? PRECEDENCE.length + 1 : rankOf(source)
}

function takeFirst(
  into: Facts,
  provenance: Provenance | null,
  records: readonly StatedFacts[],
  field: (typeof IDENTITY | typeof SINGLE)[number] | 'slug',
): void {
  const record = records.find(({ facts }) => facts[field] !== undefined)
  if (!record) return
  const value = record.facts[field]
  ;(into as Record<string, unknown>)[field] = value
  if (provenance && value !== null) provenance[field] = record.source
}

function attributesOf(records: readonly StatedFacts[], provenance: Provenance | null): NonNullable<Facts['attributes']> {
  const stated = new Set<string>()
  const attributes: NonNullable<Facts['attributes']> = []
  for (const { source, facts } of records) {
    for (const attribute of facts.attributes ?? []) {
      if (stated.has(attribute.name) || attribute.value === null) continue
      attributes.push(attribute)
      if (provenance) provenance[`attributes.${attribute.name}`] = source
    }
    for (const { name } of facts.attributes ?? []) stated.add(name)
  }
  return attributes
}

/** Adds the languages of a source that has a record for each, and the names in them. */
function addLanguages(facts: Facts, records: readonly StatedFacts[], provenance: Provenance | null): void {
  const translated = records.filter((record) => languageOf(record) !== undefined)
  const source = translated[0]?.source
  const own = translated.filter((record) => record.source === source && record.source !== '')
  const languages = new Set(own.map(languageOf))
  if (languages.size < 2) return
  facts.attributes = facts.attributes!.map((attribute) =>
    attribute.name === LANGUAGE ? { ...attribute, value: [...languages].join(', ') } : attribute,
  )
  const names = new Set([...((facts.details!.names as string[] | undefined) ?? []), ...own.flatMap((record) => record.facts.name ?? [])])
  names.delete(facts.name ?? '')
  if (names.size === 0) return
  facts.details = { ...facts.details, names: [...names] }
  if (provenance) provenance['details.names'] ??= source!
}

function languageOf({ facts }: StatedFacts): string | undefined {
  return facts.attributes?.find(({ name }) => name === LANGUAGE)?.value ?? undefined
}

function detailsOf(records: readonly StatedFacts[], provenance: Provenance | null): Record<string, unknown> {
  const details: Record<string, unknown> = {}
  for (const { source, facts } of records) {
    for (const [name, value] of Object.entries(facts.details ?? {})) {
      if (name in details) continue
      details[name] = value
      if (provenance && value !== null) provenance[`details.${name}`] = source
    }
  }
  return Object.fromEntries(Object.entries(details).filter(([, value]) => value !== null))
}

/** All foreign ids; those of a record without a finish belong to every item of the card, each with that item's finish. */
function foreignIdsOf(records: readonly StatedFacts[], finish: string, provenance: Provenance | null): ForeignId[] {
  const ids = new Map<string, ForeignId>()
  for (const record of records) {
    for (const id of record.facts.foreign_ids ?? []) {
      const named = finish !== '' && (record.whole || (!id.finish && statesNoFinish(record))) ? { ...id, finish } : id
      const key = foreignIdKey(named)
      if (ids.has(key)) continue
      ids.set(key, named)
      if (provenance) provenance[`foreign_ids.${id.source}`] ??= record.source
    }
  }
  for (const { facts } of records) for (const id of facts.without_ids ?? []) ids.delete(foreignIdKey(id))
  return [...ids.values()]
}

/** Whether the record's ids still need a finish; those of operators and of our own exports are complete. */
function statesNoFinish({ source, finish }: StatedFacts): boolean {
  return finish === '' && source !== 'operator' && source !== 'mintmark'
}

/** Equal for the same ref in the same market. */
export function refKey(market: string, ref: string): string {
  return `${market}\t${ref}`
}

/** Alternative refs for an item whose stated ref belongs to another item, in the order in which they are tried. */
export function* suffixedRefs(ref: string, finish = 'other'): Generator<string, never> {
  yield `${ref}:${finish}`
  for (let count = 2; ; count += 1) yield `${ref}:${finish}-${count}`
}

/** Equal for the same id of the same shop and finish. */
export function foreignIdKey({ source, id, finish = '' }: ForeignId): string {
  return `${source}\t${id}\t${finish}`
}

/**
 * Combines a source's newer statement with its earlier facts: values that the newer one omits are kept, and if it has ids of a shop, these replace
 * all earlier ids of that shop.
 */
export function updatedFacts(newer: Facts, older: Facts): Facts {
  const shops = new Set(newer.foreign_ids?.map(({ source }) => source))
  const olderIds = (older.foreign_ids ?? []).filter(({ source }) => !shops.has(source))
  const both = [newer, { ...older, foreign_ids: olderIds }].map((facts) => ({ source: '', finish: '', whole: false, facts }))
  return withoutEmptyValues({ ...mergedFacts(both), ...(newer.without_ids && { without_ids: newer.without_ids }) })
}

/** Removes empty values: a source without a code or image does not state that there is none. */
export function withoutEmptyValues(facts: Facts): Facts {
  const stated: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(facts)) if (!isEmpty(value)) stated[name] = value
  return stated as Facts
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true
  return typeof value === 'object' && (Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0)
}

/** The facts stated by a parsed record; prices are not facts. */
export function factsOfRecord(record: ItemRecord): Facts {
  const { market, ref, category, name, code, slug, genre, game, images, groups, attributes, details, foreignIds } = record
  return withoutEmptyValues({
    market,
    ref,
    category,
    name,
    code,
    ...(slug !== undefined && { slug }),
    genre,
    game,
    images,
    groups,
    attributes,
    details: detailsToRow(details),
    foreign_ids: foreignIds.map(({ source, id, finish }) => ({ source, id, ...(finish && { finish }) })),
  })
}

/** Equal for equal facts, in whatever order the database returns their keys. */
export function factsText(facts: Facts): string {
  return JSON.stringify(sortKeys(facts))
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => compare(a, b))
      .map(([key, each]) => [key, sortKeys(each)]),
  )
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
