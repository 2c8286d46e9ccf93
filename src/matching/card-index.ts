// Finds the item that a row of a price list or collection file describes.
import type { MatchRecord, Reason } from './records.ts'

/** What a row of a file says of an item; null for what it does not say. */
export interface CardDescription {
  /** ids, the best first; a finish word in any spelling where one id covers several finishes */
  keys: readonly { source: string; id: string; finish?: string }[]
  name: string | null
  /** collector number as written, with or without its total */
  number: string | null
  /** name, abbreviation or code of the set */
  set: string | null
  /** slug of the game */
  game: string | null
  /** printing in any spelling: `Reverse Holofoil`, `firstEdition`, `Parallel 1` */
  finish: string | null
}

export interface IndexedRecord {
  itemId: number
  record: MatchRecord
}

export type FindResult =
  | { itemId: number; method: 'id' | 'set' | 'loose' }
  | { reason: Reason; candidates: { itemId: number; score: number }[] }

/** All items in memory, by id, set, number and name. Built once for an import. */
export declare class CardIndex {
  constructor(records: Iterable<IndexedRecord>)
  find(description: CardDescription): FindResult
}
