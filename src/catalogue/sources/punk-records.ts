// Reads the One Piece card list of punk-records: packs (one JSON object) and cards (NDJSON), in three languages.
import { ndjsonRows } from '#core/files/feed.ts'
import type { Market } from '#core/markets.ts'
import { reason } from '#core/problems.ts'
import { gameOf } from '#games/games.ts'
import { splitNumber } from '#games/number-forms.ts'
import { finishSlug } from '../records/finishes.ts'
import type { CatalogueFormat } from '../records/catalogue-records.ts'
import { address, attributeList, catalogueRows, documentLines, type Entry, isObject, type Json, peek, RANK, text, texts } from './reading.ts'

// Refs: `punk-records:<language>` (root), `punk-records:pack:<pack id>`, `punk-records:<language>:<card id>`. The pack id determines the
// language; card ids are the same in all languages.
const LANGUAGES: Readonly<Record<string, { code: string; name: string }>> = {
  569: { code: 'en', name: 'English' },
  550: { code: 'ja', name: 'Japanese' },
  622: { code: 'fr', name: 'French' },
}

const GAME = gameOf('onepiece')

/** The start of a file of packs: an object keyed by pack id. */
const PACKS = /^\{\s*"\d+"\s*:/

export const punkRecords: CatalogueFormat = {
  name: 'punk-records',
  title: 'One Piece packs (JSON object) and cards (NDJSON) of punk-records',
  defaultMarket: 'source_c',
  marks: [
    { type: 'json', names: ['id', 'raw_title'] },
    { type: 'json', names: ['id', 'pack_id', 'colors'] },
  ],
  rank: (head) => (PACKS.test(head.trimStart()) ? RANK.sets : RANK.cards),
  open(market) {
    return async function* (file) {
      const { start, source } = await peek(file)
      if (PACKS.test(start)) {
        yield* catalogueRows(documentLines(source, '$.*'), 'punk-records', packReader(market))
      } else {
        yield* catalogueRows(ndjsonRows(source), 'punk-records', (row) => cardEntries(row, market))
      }
    }
  },
}

function languageOf(packId: string): { code: string; name: string } | undefined {
  return LANGUAGES[packId.slice(0, 3)]
}

function packReader(market: Market): (row: Json) => Entry[] | null {
  const roots = new Set<string>()
  return (row) => {
    if (!('raw_title' in row)) return null
    const id = text(row.id)
    if (id === undefined) return [{ reject: reason('lacks', { thing: 'pack', field: 'id' }) }]
    const language = languageOf(id)
    if (language === undefined) return [{ reject: reason('pack_language', { id }) }]
    const name = packName(row)
    if (name === undefined) return [{ reject: reason('lacks', { thing: 'pack', id, field: 'title' }) }]
    const root = `punk-records:${language.code}`
    const entries: Entry[] = []
    if (!roots.has(root)) {
      roots.add(root)
      const rootName = `${GAME.name} (${language.name})`
      entries.push({ category: { market, ref: root, name: rootName, game: 'onepiece', parent: null, image: null } })
    }
    const ref = `punk-records:pack:${id}`
    const codes = codesOf(row, name)
    entries.push({ category: { market, ref, name, game: 'onepiece', parent: root, image: null, ...(codes.length > 0 && { codes }) } })
    return entries
  }
}

/** `ROMANCE DAWN [OP-01]`; packs without a label have it in their title or not at all. */
function packName(row: Json): string | undefined {
  const parts = isObject(row.title_parts) ? row.title_parts : {}
  const title = plainText(parts.title) ?? plainText(row.raw_title)
  const label = text(parts.label)
  return title && label ? `${title} [${label}]` : title
}

/** `OP-01`, from the label or the title's brackets; `OP14-EB04` is a combination of two packs. */
function codesOf(row: Json, name: string): string[] {
  const label = text(isObject(row.title_parts) ? row.title_parts.label : undefined)
  return [label ?? /[【[]([A-Z]+\d*-[A-Z]*\d+)[】\]]/.exec(name)?.[1]].filter((code) => code !== undefined)
}

/** The number of a card, which is the same for all of its printings, and the printing. */
const CARD_ID = /^([^_]+)(?:_([a-z])(\d+))?$/

function cardEntries(row: Json, market: Market): Entry[] | null {
  if (!('pack_id' in row) || !('colors' in row)) return null
  const id = text(row.id)
  if (id === undefined) return [{ reject: reason('lacks', { thing: 'card', field: 'id' }) }]
  const name = plainText(row.name)
  if (name === undefined) return [{ reject: reason('lacks', { thing: 'card', id, field: 'name' }) }]
  const pack = text(row.pack_id)
  const language = languageOf(pack ?? '')
  if (language === undefined) return [{ reject: reason('pack_language', { id: pack ?? '' }) }]
  const { code, printing, number } = partsOfId(id)
  const category = text(row.category)
  const rarity = text(row.rarity)?.replace(/([a-z])([A-Z])/g, '$1 $2')
  const image = address(row.img_full_url)?.split('?', 1)[0]
  return [
    {
      key: {
        source: 'punk-records',
        id: `${language.code}:${id}`,
        finish: finishSlug(printing && number ? `${printing}${number}` : '', GAME.finishes),
      },
      item: {
        market,
        ref: `punk-records:${language.code}:${id}`,
        name,
        code,
        genre: 'single',
        game: 'onepiece',
        category: `punk-records:pack:${pack}`,
        images: image === undefined ? [] : [{ url: image, order: 1 }],
        attributes: attributeList([
          ['Rarity', rarity],
          ['Set Number', code],
          ['Finish', finishOf(printing, number)],
          ['Card Type', category],
          ['Color', joined(row.colors)],
          [category === 'Leader' ? 'Life' : 'Cost', amount(row.cost)],
          ['Power', amount(row.power)],
          ['Counter', amount(row.counter)],
          ['Attribute', joined(row.attributes)],
          ['Types', joined(row.types)],
          ['Language', language.name],
          ['Effect', plainText(row.effect)],
          ['Trigger', plainText(row.trigger)],
        ]),
        groups: ['ungraded', 'graded'],
        details: { rarity },
        foreignIds: [{ source: 'punk-records', id: `${language.code}:${id}` }],
      },
    },
  ]
}

/** An id whose number has an unknown form is a number as a whole. */
function partsOfId(id: string): { code: string; printing?: string; number?: string } {
  const [, code, printing, number] = CARD_ID.exec(id) ?? []
  if (code === undefined || !splitNumber(GAME.numbers.forms, code)) return { code: id }
  return { code, ...(printing && number && { printing, number }) }
}

const PRINTINGS: Readonly<Record<string, string>> = { p: 'Parallel', r: 'Reprint' }

/** `_p1` → `Parallel 1`, `_r2` → `Reprint 2`; the printing without a suffix has no finish. */
function finishOf(printing: string | undefined, number: string | undefined): string | undefined {
  return printing && number ? `${PRINTINGS[printing] ?? printing.toUpperCase()} ${number}` : undefined
}

function amount(value: unknown): string | undefined {
  return Number.isSafeInteger(value) ? String(value) : undefined
}

function joined(value: unknown): string | undefined {
  return texts(value)
    ?.map((entry) => plainText(entry) ?? '')
    .join(', ')
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' }

/** Plain text of HTML: `<br>` becomes a line break, entities are decoded; a lone `-` means no value. */
function plainText(value: unknown): string | undefined {
  const raw = text(value)
  if (raw === undefined || raw === '-') return undefined
  // Decoded twice: a few texts of the source are encoded twice (`l&amp;apos;art`).
  return text(decoded(decoded(raw.replace(/<br\s*\/?>/gi, '\n'))).replace(/\u00a0/g, ' '))
}

function decoded(html: string): string {
  return html.replace(/&(?:#(\d{1,6})|#x([0-9a-f]{1,5})|([a-z]+));/gi, (entity, decimal, hex, name) => {
    if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? entity
    const point = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
    return point > 0 && point <= 0x10ffff ? String.fromCodePoint(point) : entity
  })
}
