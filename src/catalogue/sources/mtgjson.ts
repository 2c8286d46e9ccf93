// Reads MTGJSON's AllPrintings and set files: Magic sets with cards, tokens and sealed products, in English, with names in other languages.
import { FeedError, type FeedLine, type FeedSource, jsonEntries } from '#core/files/feed.ts'
import type { Market } from '#core/markets.ts'
import { reason } from '#core/problems.ts'
import type { CatalogueFormat } from '../records/catalogue-records.ts'
import { magicEntries } from './magic-printings.ts'
import { sealedEntries, sealedFacts } from './mtgjson-sealed.ts'
import { refOf, setEntries, tokenCode } from './mtgjson-sets.ts'
import { catalogueRows, type Entry, identifier, isObject, type Json, peek, text, texts } from './reading.ts'

// Refs: `mtgjson:set:<code>`, `mtgjson:<uuid>` of a card or product, `mtgjson:<uuid>:<finish>`.
export const mtgjson: CatalogueFormat = {
  name: 'mtgjson',
  title: 'MTGJSON AllPrintings or set files of Magic sets (JSON)',
  defaultMarket: 'source_c',
  marks: [{ type: 'json', names: ['meta', 'data', 'baseSetSize'] }],
  open(market) {
    return async function* (file) {
      const { start, source } = await peek(file)
      yield* catalogueRows(setLines(source, SET_FILE.test(start)), 'mtgjson', (row) => entriesOf(row, market))
    }
  },
}

/** The start of a file of one set; AllPrintings has an object for each set there. */
const SET_FILE = /"data"\s*:\s*\{\s*"\w+"\s*:\s*[^\s{]/

const SET_FACTS = ['code', 'name', 'baseSetSize', 'tokenSetCode', 'tcgplayerGroupId', 'mcmId', 'isOnlineOnly']
/** Large parts of a set that are read one by one and then dropped, so that none counts as one large entry. */
const DROPPED = ['booster.*', 'decks.*']
const ROWS = ['cards', 'tokens', 'sealedProduct']
const CARD_FACTS =
  'uuid name faceName side layout number finishes isOversized isOnlineOnly promoTypes frameEffects borderColor rarity type artist setCode'.split(' ')
const IDENTIFIERS: Readonly<Record<string, string>> = { scryfallId: 'scryfall', tcgplayerProductId: 'tcgplayer', mcmId: 'cardmarket' }

/** Most text of a set in memory: its name comes after its cards, so these are held back. */
const MAX_SET_MB = 64

interface SetRead {
  key: unknown
  facts: Json
  cards: FeedLine<Json>[]
  characters: number
}

/** The facts of each set as one line, followed by a line for each of its cards, tokens and products. */
async function* setLines(source: FeedSource, isSetFile: boolean): AsyncIterable<FeedLine<Json>[]> {
  const prefix = isSetFile ? '$.data' : '$.data.*'
  const paths = [...SET_FACTS, ...DROPPED, ...ROWS.map((rows) => `${rows}.*`)].map((path) => `${prefix}.${path}`)
  let set: SetRead = { key: null, facts: {}, cards: [], characters: 0 }
  let line = 0
  for await (const entries of jsonEntries(source, paths)) {
    const out: FeedLine<Json>[] = []
    for (const { path, value } of entries) {
      const [key, field] = isSetFile ? [null, path[1]!] : [path[1], path[2]!]
      if (key !== set.key) {
        for (const row of complete(set)) out.push(row)
        set = { key, facts: {}, cards: [], characters: 0 }
      }
      if (ROWS.includes(String(field))) {
        line += 1
        if (field === 'tokens') set.facts.hasTokens = true
        set.cards.push(
          isObject(value) ? { line, value: slim(value, String(field), set) } : { line, reject: reason('json_object', { part: 'entry' }) },
        )
      } else if (SET_FACTS.includes(String(field))) set.facts[field] = value
    }
    yield out
  }
  yield complete(set)
}

function complete({ facts, cards }: SetRead): FeedLine<Json>[] {
  return cards.length === 0
    ? []
    : [
        { line: cards[0]!.line, value: { set: facts } },
        ...cards.map((card) => ('value' in card ? { ...card, value: { ...card.value, in: facts } } : card)),
      ]
}

/** Only the facts of a card or product that its items need. @throws FeedError if its set is too large to be held */
function slim(card: Json, kind: string, set: SetRead): Json {
  const ids = isObject(card.identifiers) ? card.identifiers : {}
  const foreign = (Array.isArray(card.foreignData) ? card.foreignData : []).flatMap((data: unknown) =>
    isObject(data) ? (text(data.name) ?? []) : [],
  )
  const facts = Object.fromEntries(CARD_FACTS.filter((fact) => fact in card).map((fact) => [fact, card[fact]]))
  const identifiers = Object.fromEntries(Object.keys(IDENTIFIERS).map((id) => [id, ids[id]]))
  const printed = { ...facts, names: foreign, identifiers, etchedId: ids.tcgplayerEtchedProductId }
  const slimmed = { ...(kind === 'sealedProduct' ? sealedFacts(card) : printed), kind }
  set.characters += JSON.stringify(slimmed).length
  if (set.characters > MAX_SET_MB * 1024 * 1024)
    throw new FeedError(reason('at_most', { part: 'entry', units: 'bytes', max: MAX_SET_MB * 1024 * 1024 }))
  return slimmed
}

function entriesOf(row: Json, market: Market): Entry[] | null {
  if (isObject(row.set)) return setEntries(row.set, market)
  if (!isObject(row.in)) return null
  if (row.kind !== 'sealedProduct') return cardEntries(row, row.in, market)
  return row.in.isOnlineOnly === true ? [] : sealedEntries(row, market, refOf(identifier(row.in.code) ?? ''))
}

/** The items of a card. Only the front of a card with two faces yields them; digital cards yield nothing. */
function cardEntries(row: Json, set: Json, market: Market): Entry[] {
  const id = identifier(row.uuid)
  if (id === undefined) return [{ reject: reason('lacks', { thing: 'card', field: 'uuid' }) }]
  const name = identifier(row.layout === 'meld' ? row.faceName : undefined) ?? identifier(row.name)
  const number = identifier(row.number)
  if (name === undefined) return [{ reject: reason('lacks', { thing: 'card', id, field: 'name' }) }]
  if (number === undefined) return [{ reject: reason('lacks', { thing: 'card', id, field: 'number' }) }]
  const side = text(row.side) ?? 'a'
  if (side !== 'a' || row.isOnlineOnly === true || set.isOnlineOnly === true) return []
  const identifiers = isObject(row.identifiers) ? row.identifiers : {}
  return magicEntries({
    source: 'mtgjson',
    market,
    id,
    name,
    names: texts(row.names) ?? [],
    number,
    category: refOf(row.kind === 'tokens' ? tokenCode(set) : (identifier(set.code) ?? '')),
    finishes: texts(row.finishes) ?? [],
    oversized: row.isOversized === true,
    promoTypes: texts(row.promoTypes) ?? [],
    frames: [...(texts(row.frameEffects) ?? []), ...(row.borderColor === 'borderless' ? ['borderless'] : [])],
    language: 'en',
    rarity: text(row.rarity),
    type: text(row.type),
    artist: text(row.artist),
    images: [],
    ids: Object.entries(IDENTIFIERS).flatMap(([field, source]) => {
      const other = text(identifiers[field])
      return other === undefined ? [] : [{ source, id: other }]
    }),
    etchedId: text(row.etchedId),
  })
}
