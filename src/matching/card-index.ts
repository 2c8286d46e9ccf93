// Finds the item that a row of a price list or collection file describes, among all items in memory.
import { type ParsedDescription, parseDescription } from './descriptions.ts'
import { byPlainness, type Fit, finishRules, finishWords, fittest } from '#catalogue/records/finishes.ts'
import { likeness } from './names.ts'
import { looseNumber, normalNumber, withoutSetCode } from './numbers.ts'
import { cardKey, type Decisions, type MatchRecord, type Reason, recordKey, type SetMap } from './matcher-types.ts'
import { decidedSets, mapSets } from './set-maps.ts'
import { SetNames } from './set-names.ts'
import { type SourceCard, type SourceSet, sourceCards } from './source-cards.ts'

/** How a row of a file describes an item; null for what the row does not state. */
export interface CardDescription {
  name: string
  /** collector number as written, with or without the total */
  number: string | null
  /** name, abbreviation or code of the set */
  set: string | null
  /** slug of the game */
  game: string | null
  /** allowed language families of the print; any by default */
  families?: readonly string[] | null
  /** printing in any spelling: `Reverse Holofoil`, `firstEdition`, `Parallel 1` */
  finish: string | null
}

/** A record linked to an item; one without a finish may be linked to several items. */
export interface IndexedRecord {
  itemId: number
  /** the item's canonical slug; null if no source states one */
  finish: string | null
  record: MatchRecord
}

/** Source of the records that stand for items of the catalogue. */
export const CATALOGUE = 'catalogue'

type ItemFacts = Pick<MatchRecord, 'card' | 'game' | 'genre' | 'family' | 'set' | 'number' | 'name'>

/** An item of the catalogue as a record. @param item `card` is equal for items that are finishes of the same card */
export function itemRecord({ itemId, finish, card, ...facts }: Omit<IndexedRecord, 'record'> & ItemFacts): IndexedRecord {
  const id = String(itemId)
  const keys = { key: recordKey(CATALOGUE, id, finish), source: CATALOGUE, id, card: cardKey(CATALOGUE, card) }
  return { itemId, finish, record: { ...keys, ...facts, finish, shopIds: [] } }
}

export type FindResult = { itemId: number; method: 'set' | 'name' } | { reason: Reason; candidates: { itemId: number; score: number }[] }

/** Maximum length of a text that can match; names, numbers, sets and printings of items are shorter. */
const MAX_TEXT_LENGTH = 500
const MAX_CANDIDATES = 5
/** Maximum number of cards that are compared when nothing matches exactly. */
const MAX_COMPARED = 500

interface Printing {
  itemId: number
  card: SourceCard
  /** the finish as a slug; null if no source states one */
  finish: string | null
  words: readonly string[] | null
}

interface Fitting extends Printing {
  fit: Fit
}

/** All items in memory, by set, number and name; built once per import. */
export class CardIndex {
  readonly #printings = new Map<SourceCard, Printing[]>()
  /** cards of a set by number, built on first use */
  readonly #numbersOf = new Map<SourceSet, ReadonlyMap<string, readonly SourceCard[]>>()
  readonly #byNumber = new Map<string, SourceCard[]>()
  readonly #byName = new Map<string, SourceCard[]>()
  readonly #sets: readonly SourceSet[]
  readonly #setNames: SetNames<SourceSet>
  readonly #learned = new Map<string, Set<SourceSet>>()

  constructor(records: Iterable<IndexedRecord>) {
    const byKey = Map.groupBy(records, ({ record }) => record.key)
    const cards = sourceCards([...byKey.values()].map(([first]) => first!.record))
    for (const card of cards) {
      const rules = finishRules(card.game)
      const printings = new Map<number, Printing>()
      for (const record of card.records) {
        for (const { itemId, finish } of byKey.get(record.key)!) {
          const printing = printings.get(itemId) ?? { itemId, card, finish, words: finish === null ? null : finishWords(finish, rules) }
          printings.set(itemId, printing)
        }
      }
      this.#printings.set(card, [...printings.values()])
      for (const name of new Set([...card.names, ...card.looseNames])) this.#byName.getOrInsertComputed(name, () => []).push(card)
      if (card.number !== null) this.#byNumber.getOrInsertComputed(card.number, () => []).push(card)
    }
    this.#sets = [...new Set(cards.flatMap(({ set }) => set ?? []))]
    this.#setNames = new SetNames(this.#sets)
  }

  /**
   * Learns from the rows of a file which set each of its set names means, by the rules of set maps; names and codes that the catalogue has need no
   * learning. Call it once with all rows, or with a large sample of them.
   */
  learn(rows: Iterable<CardDescription>, decisions: Pick<Decisions, 'setMaps'> = { setMaps: [] }): SetMap[] {
    const sets = new Map<string, SourceSet>()
    const records: MatchRecord[] = []
    for (const row of rows) {
      const { name, number, set, game } = row
      if (set === null || number === null || isTooLong(row)) continue
      const key = `${set}\t${number}\t${name}`
      records.push({
        key,
        card: key,
        source: '',
        id: key,
        game: game ?? '',
        genre: 'single',
        family: '',
        number,
        name: parseDescription({ name, number, set: null, finish: null }).name,
        set: { ref: set, name: set, codes: [], printedTotal: null },
        finish: null,
        shopIds: [],
      })
    }
    for (const { set } of sourceCards(records)) if (set) sets.set(set.ref, set)
    const decided = decidedSets(decisions)
    const maps = [...Map.groupBy(this.#sets, ({ source }) => source).values()].flatMap((own) => mapSets([...sets.values()], own, decided))
    const byRef = new Map(this.#sets.map((set) => [set.ref, set]))
    for (const map of maps) if (map.decided) this.#learned.getOrInsertComputed(map.from, () => new Set()).add(byRef.get(map.to)!)
    return maps
  }

  /**
   * Finds the item that the row describes by set, number, name and finish. It never guesses an ambiguous row: it returns its best candidates instead.
   */
  find(row: CardDescription): FindResult {
    if (isTooLong(row)) return { reason: UNKNOWN, candidates: [] }
    const description = parseDescription(row)
    const cards = row.number === null ? this.#unnumbered(row, description) : this.#numbered(row, description, row.number)
    const printings = this.#fitting(cards, description)
    const best = fittest(printings)
    const only = onlyOne(best, description.isPlain)
    if (only !== null) return { itemId: only, method: row.set === null ? 'name' : 'set' }
    if (best.length > 0) return { reason: { rule: 'several', params: { count: countItems(best) } }, candidates: ranked(best, 90) }
    if (printings.length > 0) return { reason: { rule: 'finish', params: { finish: row.finish ?? '' } }, candidates: ranked(printings, 80) }
    return this.#alike(row, description)
  }

  /**
   * Cards with this number and name in the set, or in all sets if the row names none. Within a set, a number belongs to one card, so words that only
   * some sources append to the name are ignored.
   */
  #numbered(row: CardDescription, description: ParsedDescription, written: string): SourceCard[] {
    const { set } = row
    const number = normalNumber(written)
    const ofGame = (cards: Iterable<SourceCard>) => [...new Set(cards)].filter((card) => mayBe(row, card))
    const named = (card: SourceCard) => card.names.includes(description.fullName) || card.names.includes(description.name)
    if (set === null) return ofGame(this.#byNumber.get(number) ?? []).filter((card) => named(card) && sameTotal(description.total, card))
    const cards = ofGame(
      this.#setsNamed(set, description).flatMap((one) => [
        ...(this.#inSet(one, number) ?? this.#inSet(one, withoutSetCode(number, one.facts.codes)) ?? []),
      ]),
    )
    const exact = cards.filter(named)
    return exact.length > 0 ? exact : cards.filter(({ looseNames }) => looseNames.includes(description.name))
  }

  #inSet(set: SourceSet, number: string): readonly SourceCard[] | undefined {
    return this.#numbersOf.getOrInsertComputed(set, cardsByNumber).get(number)
  }

  /** Products without a number, by name. */
  #unnumbered(row: CardDescription, description: ParsedDescription): SourceCard[] {
    const { set } = row
    const sets = set === null ? null : new Set(this.#setsNamed(set, description))
    const cards = this.#byName.get(description.name) ?? []
    const fitting = cards.filter((card) => card.number === null && mayBe(row, card) && (sets === null || card.set === null || sets.has(card.set)))
    const exact = fitting.filter(({ names }) => names.includes(description.fullName))
    return exact.length > 0 ? exact : fitting
  }

  /** The sets with this name, and the galleries that are printed as part of them. */
  #setsNamed(set: string, description: ParsedDescription): SourceSet[] {
    return this.#setNames.withGalleries(this.#learned.get(set) ?? this.#setNames.find(set, description))
  }

  #fitting(cards: readonly SourceCard[], description: ParsedDescription): Fitting[] {
    return cards.flatMap((card) => this.#printings.get(card)!.map((printing) => ({ ...printing, fit: description.fits(printing.words, card) })))
  }

  /** Cards with a similar number or name, for a person to choose from. */
  #alike(row: CardDescription, description: ParsedDescription): FindResult {
    const number = row.number === null ? null : normalNumber(row.number)
    const sets = row.set === null ? null : new Set(this.#setsNamed(row.set, description))
    const pool = new Set<SourceCard>()
    for (const name of [description.name, description.looseName]) for (const card of this.#byName.get(name) ?? []) pool.add(card)
    for (const set of sets ?? []) for (const card of (number === null ? null : this.#inSet(set, number)) ?? []) pool.add(card)
    const scored = new Map<number, number>()
    for (const card of [...pool].filter((one) => mayBe(row, one)).slice(0, MAX_COMPARED)) {
      const name = Math.max(
        0,
        ...card.names.map((one) => likeness(one, description.name)),
        ...card.looseNames.map((one) => likeness(one, description.looseName) * 0.9),
      )
      const numbers =
        number === null || card.number === null
          ? 0
          : card.number === number || card.bare === number
            ? 1
            : looseNumber(card.number) === looseNumber(number)
              ? 0.5
              : 0
      const score = Math.round(40 * name + 30 * numbers + (sets === null || (card.set && sets.has(card.set)) ? 10 : 0))
      for (const { itemId } of this.#printings.get(card)!) scored.set(itemId, Math.max(scored.get(itemId) ?? 0, score))
    }
    const candidates = [...scored]
      .map(([itemId, score]) => ({ itemId, score }))
      .sort((a, b) => b.score - a.score || a.itemId - b.itemId)
      .slice(0, MAX_CANDIDATES)
    const reason: Reason =
      sets?.size === 0 ? { rule: 'set-unclear', params: { set: row.set! } } : candidates.length === 0 ? UNKNOWN : { rule: 'loose', params: {} }
    return { reason, candidates }
  }
}

const UNKNOWN: Reason = { rule: 'unknown', params: {} }

/**
 * The item if there is only one. If the row states no finish and all items are of the same card, returns the plain one. A card that is only sold with
 * its set's stamp counts as plain beside an item with a further stamp.
 */
function onlyOne(fitting: readonly Printing[], isPlainRow: ParsedDescription['isPlain']): number | null {
  const items = new Map(fitting.map((one) => [one.itemId, one]))
  if (items.size === 1) return fitting[0]!.itemId
  const rules = fitting.length > 0 ? finishRules(fitting[0]!.card.game) : null
  if (rules === null || !isPlainRow(rules)) return null
  const byCard = Map.groupBy(fitting, ({ card }) => `${card.set?.ref}\t${card.number}\t${card.names[0]}`)
  if (![...byCard.values()].some((own) => countItems(own) === items.size)) return null
  const [first, ...others] = [...items.values()].sort((a, b) => byPlainness(rules)(a.finish, b.finish))
  const isPlain = (first!.words ?? []).every((word) => word === rules.foil || others.every(({ words }) => words?.includes(word)))
  return isPlain && first!.finish !== others[0]!.finish ? first!.itemId : null
}

/** Whether the card has the game and one of the languages that the row states, if any. */
function mayBe({ game, families = null }: CardDescription, card: SourceCard): boolean {
  return (game === null || card.game === game) && (families === null || families.includes(card.family))
}

function ranked(printings: readonly Fitting[], score: number): { itemId: number; score: number }[] {
  const byFinish = byPlainness(finishRules(printings[0]!.card.game))
  const sorted = printings.toSorted((a, b) => b.fit - a.fit || byFinish(a.finish, b.finish) || a.itemId - b.itemId)
  return [...new Set(sorted.map(({ itemId }) => itemId))].slice(0, MAX_CANDIDATES).map((itemId) => ({ itemId, score }))
}

/** Cards by number, with and without the prefix that all cards of the set share. */
function cardsByNumber({ cards }: SourceSet): Map<string, SourceCard[]> {
  const byNumber = new Map<string, SourceCard[]>()
  for (const card of cards) {
    if (card.number === null) continue
    byNumber.getOrInsertComputed(card.number, () => []).push(card)
    if (card.bare !== null && card.bare !== card.number) byNumber.getOrInsertComputed(card.bare, () => []).push(card)
  }
  return byNumber
}

function countItems(printings: readonly Printing[]): number {
  return new Set(printings.map(({ itemId }) => itemId)).size
}

function sameTotal(total: string, card: SourceCard): boolean {
  return total === '' || card.totals.length === 0 || card.totals.includes(total)
}

/** Whether a text of the row is longer than that of any item. */
export function isTooLong({ name, number, set, finish }: Pick<CardDescription, 'name' | 'number' | 'set' | 'finish'>): boolean {
  return [name, number, set, finish].some((text) => text !== null && text.length > MAX_TEXT_LENGTH)
}
