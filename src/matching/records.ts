// Input and output of the matcher: source records, decisions of people, and the assignment of records to items.
import type { ForeignId, Genre } from '#catalogue/records.ts'

/** What the matcher needs of one source record: what one source says of one printing of a card, or of one sealed product. */
export interface MatchRecord {
  /** `recordKey(source, id, finish)` */
  key: string
  /** `tcgdex`, `tcgdex-asia`, `pokemontcg`, `punk-records`, `cardmarket`, `tcgplayer`, `mintmark`, `operator` */
  source: string
  /** the source's id, such as `base1-4` */
  id: string
  /** `cardKey(source, id)`: the records of one card of the source, which differ in finish */
  card: string
  game: string
  genre: Genre
  /** language family of the print: only records of one family can be one card (`intl`, `ja`, `zh`, `op-en`, ...) */
  family: string
  set: MatchSet | null
  /** collector number as printed, with or without its total; null if there is none */
  number: string | null
  name: string
  /** names in other languages or spellings of the same card */
  names?: readonly string[]
  /** canonical slug (`finishSlug`); null when the source states none: the record is of the card as a whole */
  finish: string | null
  /** ids in shops and other catalogues; never the record's own id */
  shopIds: readonly ForeignId[]
  /** used to contradict a join, never to make one */
  hp?: number | null
  /** in cents of one currency; used to contradict a join, never to make one */
  priceCents?: number | null
}

export interface MatchSet {
  /** unique among all sources, such as `tcgdex:set:base1` */
  ref: string
  name: string
  /** abbreviations and codes under which others name the set, such as `BS`, `BRS`, `OP-01` */
  codes: readonly string[]
  /** the count printed on the cards (`102` in `4/102`), null when unknown */
  printedTotal: number | null
  /** ids of the set in shops: Cardmarket's expansion, TCGplayer's group */
  shopIds?: readonly ForeignId[]
}

/**
 * What people decided. Pairs name records by key, sets by ref; the order within a pair has no meaning for `same` and
 * `apart`. A decision about records that do not exist (any more) has no effect and does no harm.
 */
export interface Decisions {
  /** the cards of both records are one card; records of different finishes become one item, too */
  same: readonly (readonly [string, string])[]
  /** the cards of both records are never joined */
  apart: readonly (readonly [string, string])[]
  /** the set `from` is the set `to` of another source; null: it is none of the other sets */
  setMaps: readonly (readonly [from: string, to: string | null])[]
  /** records that a person looked at and left for later: still waiting, marked */
  postponed: readonly string[]
}

/** How a record came to its item. `own`: the record's source is the first to state the item. */
export type Method = 'own' | 'shop-id' | 'set-map' | 'loose-decided' | 'sealed' | 'operator'

export interface AssignedRecord {
  key: string
  method: Method
  /** 0 to 100 */
  confidence: number
  /** the record states no finish and stands under every item of its card */
  whole: boolean
}

/** Everything that becomes one item. */
export interface AssignedItem {
  /** the same for all items of one card: the key of its first card by precedence and id */
  card: string
  /** in order of precedence, then key */
  records: AssignedRecord[]
  /** canonical slug; null when no source states one */
  finish: string | null
  /** the plainest item of the card: what an id without a finish means */
  primary: boolean
}

/** A rule that spoke, with what it saw, rendered to text at the edges. */
export interface Reason {
  rule: ReasonRule
  params: Record<string, string | number | readonly string[]>
}

export type ReasonRule =
  /** a candidate agrees only in the loose forms of number or name */
  | 'loose'
  /** several cards fit equally well */
  | 'several'
  /** another record of the same source claims the same card */
  | 'claimed-twice'
  /** a shop id is on several cards */
  | 'shop-id-shared'
  /** a shared shop id, but name or number differ */
  | 'shop-id-differs'
  /** hit points differ */
  | 'hp'
  /** prices differ by more than the factor of 5 */
  | 'price-ratio'
  /** the set resembles several sets, or too few of its cards agree */
  | 'set-unclear'
  /** the description's finish is none of the card's */
  | 'finish'
  /** nothing is like it */
  | 'unknown'

export interface MatchCandidate {
  /** a record of the candidate card */
  key: string
  /** 0 to 100 */
  score: number
  reasons: Reason[]
}

/** A card of a source that waits for a person. */
export interface WaitingCard {
  /** the first of `keys` */
  key: string
  /** all records of the waiting card: one decision is for all of them */
  keys: string[]
  postponed: boolean
  reasons: Reason[]
  /** best first, at most 10 */
  candidates: MatchCandidate[]
}

/** A set of one source and the set of another that it most resembles. */
export interface SetMap {
  from: string
  to: string
  /** cards of the smaller set that agree in number and name, of how many */
  agree: number
  of: number
  /** by the rule or a person; false: a person has to decide once for the set */
  decided: boolean
  by: 'rule' | 'operator' | null
}

export interface Assignment {
  items: AssignedItem[]
  waiting: WaitingCard[]
  setMaps: SetMap[]
}

export interface AssignOptions {
  /** sources in order of precedence, the first is right; sources that are missing come last, by name */
  precedence?: readonly string[]
  /** added to the aliases that come with the program */
  sealedAliases?: SealedAliases
}

/** Words of sealed products that mean the same: `{ "etb": "elite trainer box" }`. */
export type SealedAliases = Readonly<Record<string, string>>

/** The source records' precedence unless a setting says otherwise. */
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

/** @param finish canonical slug, null when not stated */
export function recordKey(source: string, id: string, finish: string | null): string {
  return `${source}\t${id}\t${finish ?? ''}`
}

/** The key that all records of one card of a source share. */
export function cardKey(source: string, id: string): string {
  return `${source}\t${id}`
}
