// Input and output of the matcher: source records, manual decisions, and the assignment of records to items.
import type { ForeignId, Genre } from '#catalogue/records/catalogue-records.ts'

/** One source record as the matcher needs it: what a source states about one printing of a card, or about one sealed product. */
export interface MatchRecord {
  /** `recordKey(source, id, finish)` */
  key: string
  /** `tcgdex`, `tcgdex-asia`, `pokemontcg`, `punk-records`, `cardmarket`, `tcgplayer`, `mintmark`, `operator` */
  source: string
  /** the source's id, such as `base1-4` */
  id: string
  /** `cardKey(source, id)`: shared by the records of one card of the source, which differ in finish */
  card: string
  game: string
  genre: Genre
  /** language family of the print: only records of the same family can be the same card (`intl`, `ja`, `zh`, `op-en`, ...) */
  family: string
  set: MatchSet | null
  /** collector number as printed, with or without the total; null if there is none */
  number: string | null
  name: string
  /** other spellings of the name (`otherNames`) */
  names?: readonly string[]
  /** canonical slug (`finishSlug`); null if the source states none: the record then describes the card as a whole */
  finish: string | null
  /** ids in shops and other catalogues; never the record's own id */
  shopIds: readonly ForeignId[]
  /** used to reject a join, never to justify one */
  hp?: number | null
  /** in cents of one currency; used to reject a join, never to justify one */
  priceCents?: number | null
}

export interface MatchSet {
  /** unique among all sources, such as `tcgdex:set:base1` */
  ref: string
  name: string
  /** abbreviations and codes that others use for the set, such as `BS`, `BRS`, `OP-01` */
  codes: readonly string[]
  /** the count printed on the cards (`102` in `4/102`); null if unknown */
  printedTotal: number | null
  /** ids of the set in shops: Cardmarket's expansion, TCGplayer's group */
  shopIds?: readonly ForeignId[]
}

/**
 * Manual decisions. Pairs name records by key, sets by ref; the order within a pair does not matter for `same` and `apart`. A decision
 * about records that do not exist has no effect.
 */
export interface Decisions {
  /** the cards of both records are the same; two records of different finishes also become one item */
  same: readonly (readonly [string, string])[]
  /** the cards of both records are never joined */
  apart: readonly (readonly [string, string])[]
  /** the set `from` is the same as the set `to` of another source; null: it is none of the other sources' sets */
  setMaps: readonly (readonly [from: string, to: string | null])[]
  /** records whose decision was postponed: they stay pending, but are marked */
  postponed: readonly string[]
}

/** How a record was linked to its item. `own`: its source is the first, by precedence, to state the item. */
export type Method = 'own' | 'shop-id' | 'set-map' | 'loose-decided' | 'sealed' | 'operator'

export interface AssignedRecord {
  key: string
  method: Method
  /** 0 to 100 */
  confidence: number
  /** the record states no finish and is linked to every item of its card */
  whole: boolean
}

/** All records that form one item. */
export interface AssignedItem {
  /** equal for all items of a card: the key of its first card by precedence and id */
  card: string
  /** in order of precedence, then key */
  records: AssignedRecord[]
  /** canonical slug; null if no source states one */
  finish: string | null
  /** the plainest item of the card, used for an id without a finish */
  primary: boolean
}

/** A rule that applied, with its parameters; converted to text where it is shown. */
export interface Reason {
  rule: ReasonRule
  params: Record<string, string | number | readonly string[]>
}

export type ReasonRule =
  /** a candidate matches only in the loose form of its number or name */
  | 'loose'
  /** several cards match equally well */
  | 'several'
  /** another record of the same source claims the same card */
  | 'claimed-twice'
  /** several cards have the same shop id */
  | 'shop-id-shared'
  /** the shop id matches, but name or number differ */
  | 'shop-id-differs'
  /** hit points differ */
  | 'hp'
  /** the prices differ by more than a factor of 5 */
  | 'price-ratio'
  /** the set resembles several sets, or too few of its cards match */
  | 'set-unclear'
  /** the card does not exist in the described finish */
  | 'finish'
  /** nothing similar was found */
  | 'unknown'

export interface MatchCandidate {
  /** a record of the candidate card */
  key: string
  /** 0 to 100 */
  score: number
  reasons: Reason[]
}

/** A card of a source that is pending a manual decision. */
export interface WaitingCard {
  /** the first of `keys` */
  key: string
  /** all records of the pending card; a decision applies to all of them */
  keys: string[]
  postponed: boolean
  reasons: Reason[]
  /** best first, at most 10 */
  candidates: MatchCandidate[]
}

/** A set of one source and the most similar set of another. */
export interface SetMap {
  from: string
  to: string
  /** number of cards of the smaller set that match in number and name */
  agree: number
  of: number
  /** by the rule or a person; false: the set needs a manual decision */
  decided: boolean
  by: 'rule' | 'operator' | null
}

export interface Assignment {
  items: AssignedItem[]
  waiting: WaitingCard[]
  setMaps: SetMap[]
}

export interface AssignOptions {
  /** sources in order of precedence, the most trusted first; missing sources come last, by name */
  precedence?: readonly string[]
  /** used in addition to the built-in aliases */
  sealedAliases?: SealedAliases
}

/** Aliases of words in sealed product names: `{ "etb": "elite trainer box" }`. */
export type SealedAliases = Readonly<Record<string, string>>

/** Default precedence of the sources. */
export const PRECEDENCE: readonly string[] = [
  'operator',
  'mintmark',
  'tcgdex',
  'tcgdex-asia',
  'pokemontcg',
  'punk-records',
  'cardmarket',
  'tcgplayer',
]

/** @param finish canonical slug; null if not stated */
export function recordKey(source: string, id: string, finish: string | null): string {
  return `${source}\t${id}\t${finish ?? ''}`
}

/** The key shared by all records of one card of a source. */
export function cardKey(source: string, id: string): string {
  return `${source}\t${id}`
}
