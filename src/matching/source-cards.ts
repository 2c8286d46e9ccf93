// Source cards as the matcher compares them: all records of a card, with normalised names and numbers.
import type { Genre } from '#catalogue/records/catalogue-records.ts'
import { looseName, normalName } from './names.ts'
import { bareNumber, normalNumber, sharedPrefix, totalOf } from './numbers.ts'
import type { MatchRecord, MatchSet } from './matcher-types.ts'

export interface SourceCard {
  /** as `MatchRecord.card` */
  key: string
  source: string
  game: string
  family: string
  sealed: boolean
  /** a set of its source; null if the source names none */
  set: SourceSet | null
  /** normalised; null for cards without a number */
  number: string | null
  /** the number without the prefix of its set, or the number itself if there is none */
  bare: string | null
  /** totals printed after the slash, if sources state them */
  totals: readonly string[]
  /** normalised */
  names: readonly string[]
  looseNames: readonly string[]
  /** each name with the number as printed and with the number without the set's prefix; cards of different sets that share one of these match */
  keys: readonly string[]
  /** sorted by key */
  records: readonly MatchRecord[]
  /** `cardmarket 273699`: its ids in other systems */
  ids: readonly string[]
  /** distinct values stated by its records */
  hps: readonly number[]
  prices: readonly number[]
}

export interface SourceSet {
  ref: string
  source: string
  facts: MatchSet
  cards: SourceCard[]
}

/** A mutable card, until its set is complete. */
type Draft = { -readonly [field in keyof SourceCard]: SourceCard[field] }

/** Cards ordered by key, so that results do not depend on the order of the records. */
export function sourceCards(records: readonly MatchRecord[]): SourceCard[] {
  const grouped = [...Map.groupBy(records, ({ card }) => card)]
  for (const [, own] of grouped) if (own.length > 1) own.sort(byKey)
  grouped.sort(([, [a]], [, [b]]) => byKey(a!, b!))
  const sets = new Map<string, SourceSet>()
  const cards: Draft[] = []
  for (const [key, own] of grouped) {
    const first = own[0]!
    const setFacts = own.find(({ set }) => set !== null)?.set ?? null
    const card: Draft = {
      key,
      source: first.source,
      game: first.game,
      family: first.family,
      sealed: isSealed(first.genre),
      set: setFacts && setOf(sets, first.source, setFacts),
      number: numberIn(own),
      bare: null,
      totals: distinct(own, (record) => record.number && totalOf(record.number)),
      ...namesOf(own),
      keys: NONE,
      records: own,
      ids: idsIn(own),
      hps: distinct(own, ({ hp }) => positive(hp)),
      prices: distinct(own, ({ priceCents }) => positive(priceCents)),
    }
    card.set?.cards.push(card)
    cards.push(card)
  }
  for (const set of sets.values()) {
    const prefix = sharedPrefix(set.cards.flatMap(({ number }) => number ?? []))
    for (const card of set.cards as Draft[]) card.bare = card.number && bareNumber(card.number, prefix)
  }
  for (const card of cards) {
    card.bare ??= card.number
    card.keys = agreementKeys(card)
  }
  return cards
}

/** Whether the genre is a sealed product, compared by the words of its name. */
export function isSealed(genre: Genre): boolean {
  return genre === 'sealed' || genre === 'bundle'
}

function byKey(a: MatchRecord, b: MatchRecord): number {
  return compare(a.key, b.key)
}

/** Compares keys independently of the locale. */
export function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function setOf(sets: Map<string, SourceSet>, source: string, facts: MatchSet): SourceSet {
  const existing = sets.get(facts.ref)
  if (existing) return existing
  const set = { ref: facts.ref, source, facts, cards: [] }
  sets.set(facts.ref, set)
  return set
}

function numberIn(records: readonly MatchRecord[]): string | null {
  const number = records.find((record) => record.number !== null)?.number
  return number == null ? null : normalNumber(number)
}

function namesOf(records: readonly MatchRecord[]): Pick<SourceCard, 'names' | 'looseNames'> {
  const [first] = records
  // Fast path: nearly all cards have one name.
  if (records.every(({ name, names = NONE }) => name === first!.name && names.length === 0)) {
    const [name, loose] = [normalName(first!.name), looseName(first!.name)]
    return { names: name === '' ? NONE : [name], looseNames: loose === '' ? NONE : [loose] }
  }
  const written = [...new Set(records.flatMap(({ name, names }) => (names ? [name, ...names] : name)))]
  return { names: [...new Set(written.map(normalName))].filter(Boolean), looseNames: [...new Set(written.map(looseName))].filter(Boolean) }
}

function agreementKeys({ number, bare, names }: Draft): readonly string[] {
  if (number === null) return NONE
  const plain = names.map((name) => `${number}\t${name}`)
  return bare === null || bare === number ? plain : [...plain, ...names.map((name) => `${bare}\t${name}`)]
}

function idsIn(records: readonly MatchRecord[]): readonly string[] {
  const ids: string[] = []
  for (const { shopIds } of records) {
    for (const { source, id } of shopIds) {
      const text = `${source} ${id}`
      if (!ids.includes(text)) ids.push(text)
    }
  }
  return ids.length === 0 ? NONE : ids.sort()
}

const NONE: readonly never[] = []

/** Null for 0, which sources use for unknown values. */
function positive(value: number | null | undefined): number | null {
  return value != null && value > 0 ? value : null
}

/** The distinct values that the records state. */
function distinct<T extends string | number>(records: readonly MatchRecord[], stated: (record: MatchRecord) => T | null): readonly T[] {
  let found: T[] | null = null
  for (const record of records) {
    const value = stated(record)
    if (value === null || value === '') continue
    if (found === null) found = [value]
    else if (!found.includes(value)) found.push(value)
  }
  return found ?? NONE
}
