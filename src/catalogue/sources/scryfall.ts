// Reads Scryfall's bulk data and sets: Magic printings as one JSON array or NDJSON, and the list of sets.
import { type FeedSource, ndjsonRows } from '#core/files/feed.ts'
import type { Market } from '#core/markets.ts'
import { reason } from '#core/problems.ts'
import type { CatalogueFormat } from '../records/catalogue-records.ts'
import { languageOf, magicEntries } from './magic-printings.ts'
import {
  address,
  catalogueRows,
  documentLines,
  type Entry,
  identifier,
  isObject,
  type Json,
  peek,
  RANK,
  text,
  texts,
  wholeNumber,
} from './reading.ts'
import { idIn, migrationEntry } from './scryfall-migrations.ts'

// Refs: `scryfall:set:<code>`, `scryfall:<id>`, `scryfall:<id>:<finish>`; printings in another language than English: `scryfall:<language>:<id>`.
export const scryfall: CatalogueFormat = {
  name: 'scryfall',
  title: 'Scryfall bulk data of Magic printings, its sets and its migrations (JSON or NDJSON)',
  defaultMarket: 'source_c',
  marks: [
    { type: 'json', names: ['object', 'id', 'scryfall_uri'] },
    { type: 'json', names: ['object', 'id', 'migration_strategy'] },
  ],
  rank: (head) => (head.includes('"migration_strategy"') ? MIGRATIONS : LIST.test(head.trimStart()) ? RANK.sets : RANK.cards),
  open(market) {
    const sets = new Set<string>()
    return async function* (file) {
      const { start, source } = await peek(file)
      yield* catalogueRows(
        linesOf(start, source),
        'scryfall',
        (row) => setEntry(row, market, sets) ?? migrationEntry(row) ?? cardEntries(row, market, sets),
      )
    }
  },
}

/** Migrations name cards, so they are read last. */
const MIGRATIONS = RANK.cards + 1

/** Scryfall's answers with several sets or migrations. */
const LIST = /^\{\s*"object"\s*:\s*"list"/

function linesOf(start: string, source: FeedSource) {
  if (LIST.test(start)) return documentLines(source, '$.data.*')
  return start.startsWith('[') ? documentLines(source, '$.*') : ndjsonRows(source)
}

function setEntry(row: Json, market: Market, sets: Set<string>): Entry[] | null {
  if (row.object !== 'set') return null
  const code = identifier(row.code)
  const name = text(row.name)
  if (code === undefined) return [{ reject: reason('lacks', { thing: 'set', field: 'code' }) }]
  if (name === undefined) return [{ reject: reason('lacks', { thing: 'set', id: code, field: 'name' }) }]
  if (row.digital === true) return []
  const shopId = wholeNumber(row.tcgplayer_id)
  sets.add(code)
  return [
    {
      category: {
        market,
        ref: `scryfall:set:${code}`,
        name,
        game: 'magic',
        parent: null,
        image: address(row.icon_svg_uri) ?? null,
        printedTotal: wholeNumber(row.printed_size) ?? null,
        codes: [code.toUpperCase()],
        ...(shopId !== undefined && { foreignIds: [{ source: 'tcgplayer', id: String(shopId) }] }),
      },
    },
  ]
}

/** The items of a printing, preceded by its set if that is new. Digital cards and the backs of melded cards are not goods: they yield nothing. */
function cardEntries(row: Json, market: Market, sets: Set<string>): Entry[] | null {
  if (row.object !== 'card') return null
  const id = identifier(row.id)
  if (id === undefined) return [{ reject: reason('lacks', { thing: 'card', field: 'id' }) }]
  const name = identifier(row.name)
  const number = identifier(row.collector_number)
  const set = identifier(row.set)
  const setName = identifier(row.set_name)
  if (name === undefined) return [{ reject: reason('lacks', { thing: 'card', id, field: 'name' }) }]
  if (number === undefined) return [{ reject: reason('lacks', { thing: 'card', id, field: 'collector_number' }) }]
  if (set === undefined) return [{ reject: reason('lacks', { thing: 'card', id, field: 'set' }) }]
  if (setName === undefined) return [{ reject: reason('lacks', { thing: 'card', id, field: 'set_name' }) }]
  if (row.digital === true || isMeldResult(row, id)) return []
  const category = `scryfall:set:${set}`
  const isNew = !sets.has(set)
  sets.add(set)
  const of = { market, game: 'magic', image: null }
  const language = languageOf(text(row.lang) ?? 'en')
  const faces = Array.isArray(row.card_faces) ? row.card_faces.filter(isObject) : []
  return [
    ...(isNew ? [{ category: { ...of, ref: category, name: setName, codes: [set.toUpperCase()], fillsOnly: true } }] : []),
    ...magicEntries({
      source: 'scryfall',
      market,
      id: idIn(language, id),
      name,
      names: [row, ...faces].flatMap((face) => [text(face.printed_name), text(face.flavor_name)]).filter((other) => other !== undefined),
      number,
      category,
      finishes: texts(row.finishes) ?? [],
      oversized: row.oversized === true,
      promoTypes: texts(row.promo_types) ?? [],
      frames: [...(texts(row.frame_effects) ?? []), ...(row.border_color === 'borderless' ? ['borderless'] : [])],
      language,
      rarity: text(row.rarity),
      type: text(row.type_line) ?? text(faces[0]?.type_line),
      artist: text(row.artist) ?? text(faces[0]?.artist),
      images: [row, ...faces].map(imageOf).filter((image) => image !== undefined),
      ids: [{ source: 'scryfall', id }, ...shopIdsOf(row)],
      etchedId: wholeNumber(row.tcgplayer_etched_id)?.toString(),
    }),
  ]
}

function shopIdsOf(row: Json): { source: string; id: string }[] {
  return ['tcgplayer', 'cardmarket'].flatMap((source) => {
    const id = wholeNumber(row[`${source}_id`])
    return id === undefined ? [] : [{ source, id: String(id) }]
  })
}

function imageOf({ image_uris: images }: Json): string | undefined {
  return isObject(images) ? (address(images.normal) ?? address(images.large)) : undefined
}

/** The card that two others become together is printed on their backs. */
function isMeldResult(row: Json, id: string): boolean {
  const parts = row.layout === 'meld' && Array.isArray(row.all_parts) ? row.all_parts : []
  return parts.some((part) => isObject(part) && part.component === 'meld_result' && part.id === id)
}
