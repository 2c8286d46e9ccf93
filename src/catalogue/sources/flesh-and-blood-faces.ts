// Reads the file of Flesh and Blood cards and finds the faces of each physical card: the cards with the same identifier.
import { FeedError, type FeedLine, type FeedSource } from '#core/files/feed.ts'
import { reason } from '#core/problems.ts'
import { learnSet, packageCard } from './flesh-and-blood-cube.ts'
import { documentLines, identifier, isObject, type Json, texts } from './reading.ts'

/** Most text of a file in memory: two cards are faces of one if they have the same identifier, wherever they are in the file. */
const MAX_FILE_MB = 64
const CARD_FACTS = 'name cardIdentifier pitch typeText rarity printings isCardBack nicknames oppositeSideCardIdentifiers'.split(' ')

/** Stands for a row of a file of sets: cards name their sets, and only sets with cards are imported. */
export const SET: Json = {}

export interface CardsRead {
  lines: AsyncIterable<FeedLine<Json>[]>
  /** cards by identifier, the front first */
  faces: ReadonlyMap<string, readonly Json[]>
  /** codes of a set by its name: the letters before the numbers of its cards */
  codes: ReadonlyMap<string, ReadonlySet<string>>
}

/** Reads the whole file, a few megabytes. @param sets names of sets by code, which a file of sets adds to @throws FeedError if it is too large to be held */
export async function readCards(file: FeedSource, sets: Map<string, string>): Promise<CardsRead> {
  const batches: FeedLine<Json>[][] = []
  const faces = new Map<string, Json[]>()
  const codes = new Map<string, Set<string>>()
  let characters = 0
  for await (const batch of documentLines(file, '$.*')) {
    const slim = batch.map((row): FeedLine<Json> => {
      if ('reject' in row) return row
      if (learnSet(row.value, sets)) return { line: row.line, value: SET }
      const card = packageCard(row.value, sets)
      const value = Object.fromEntries(CARD_FACTS.filter((fact) => fact in card).map((fact) => [fact, card[fact]]))
      characters += JSON.stringify(value).length
      // Rows that will be rejected do not count as faces.
      const isUsable = identifier(value.cardIdentifier) !== undefined && identifier(value.name) !== undefined
      for (const printing of isUsable ? printingsOf(value) : []) {
        const [id, set] = [identifier(printing.identifier), identifier(printing.set)]
        if (id === undefined) continue
        const own = faces.getOrInsertComputed(id, () => [])
        if (!own.includes(value)) own.push(value)
        if (set !== undefined) codes.getOrInsertComputed(set, () => new Set()).add(setCodeOf(id))
      }
      return { line: row.line, value }
    })
    if (characters > MAX_FILE_MB * 1024 * 1024)
      throw new FeedError(reason('at_most', { part: 'file', units: 'bytes', max: MAX_FILE_MB * 1024 * 1024 }))
    batches.push(slim)
  }
  for (const own of faces.values()) if (own.length > 1) own.sort((a, b) => faceRank(a) - faceRank(b))
  return {
    lines: (async function* () {
      yield* batches
    })(),
    faces,
    codes,
  }
}

export function printingsOf({ printings }: Json): Json[] {
  return Array.isArray(printings) ? printings.filter(isObject) : []
}

function faceRank(card: Json): number {
  if (card.isCardBack === true) return 2
  return texts(card.oppositeSideCardIdentifiers) === undefined ? 1 : 0
}

/** `WTR000` → `WTR`, `1HP003` → `1HP`: everything before the digits at the end. */
function setCodeOf(id: string): string {
  const characters = Array.from(id)
  return characters.slice(0, characters.findLastIndex((character) => character < '0' || character > '9') + 1).join('')
}
