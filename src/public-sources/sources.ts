// The public sources whose files `mintmark fetch` downloads and imports; a new one is one entry here.
import { isObject } from '#catalogue/sources/reading.ts'
import { IMPORT_FORMATS } from '#imports/registry.ts'

const MB = 1024 * 1024

/** A file of a source. */
export interface SourceFile {
  /** name in the folder of the source; `.gz` means gzip */
  name: string
  url: string
  maxBytes: number
  /** where the source publishes the file's SHA-256, as the first word of a text */
  sha256Url?: string
  /** ask for gzip: the source compresses this large file when it sends it */
  compressed?: boolean
  /** further files that the file names, such as the next page of a list; null if it is not the expected document */
  more?: (document: unknown) => SourceFile[] | null
}

/** A document of a source that names its other files. */
export interface SourceIndex extends SourceFile {
  /** whether it is imported as well */
  isImported: boolean
  /** the files it names; null if it is not the expected document */
  filesOf: (document: unknown) => SourceFile[] | null
}

export interface PublicSource {
  name: string
  title: string
  game: string
  /** name of the import format that reads its files */
  format: string
  website: string
  licence: string
  termsUrl: string
  /** what the files lack or what must be known before using them; null for nothing */
  note: string | null
  /** the document that names the files; null if they are known */
  index: SourceIndex | null
  files: readonly SourceFile[]
  /** for files that the format cannot read as they are: returns the rows to import of one file after another; null if it is not the expected document */
  openRows?: () => (document: unknown) => object[] | null
}

const POKEMON_TCG_DATA = 'https://raw.githubusercontent.com/PokemonTCG/pokemon-tcg-data/master'
const PUNK_RECORDS = 'https://raw.githubusercontent.com/buhbbl/punk-records/main'
const FAB_CUBE = 'https://raw.githubusercontent.com/the-fab-cube/flesh-and-blood-cards/main/json/english'
const TCGDEX = 'https://api.tcgdex.net/v2/en'

const ALL_SOURCES: readonly PublicSource[] = [
  {
    name: 'tcgdex',
    title: 'TCGdex',
    game: 'pokemon',
    format: 'tcgdex',
    website: 'https://tcgdex.dev',
    licence: 'MIT (data of the repository tcgdex/cards-database)',
    termsUrl: 'https://github.com/tcgdex/cards-database/blob/master/LICENSE',
    note: 'English sets with the names, numbers, rarities and pictures of their cards. Other facts are in files only: import those of the database, or fetch pokemontcg as well.',
    index: {
      name: 'sets.json',
      url: `${TCGDEX}/sets`,
      maxBytes: 16 * MB,
      isImported: false,
      filesOf: tcgdexFiles,
    },
    files: [],
    openRows: openTcgdexRows,
  },
  {
    name: 'pokemontcg',
    title: 'Pokémon TCG Data',
    game: 'pokemon',
    format: 'pokemontcg',
    website: 'https://github.com/PokemonTCG/pokemon-tcg-data',
    licence: 'none stated; names, texts and pictures of the cards belong to their publishers',
    termsUrl: 'https://github.com/PokemonTCG/pokemon-tcg-data',
    note: null,
    index: {
      name: 'sets.json',
      url: `${POKEMON_TCG_DATA}/sets/en.json`,
      maxBytes: 16 * MB,
      isImported: true,
      filesOf: (document) =>
        filesOfIds(document, (id) => ({ name: `cards-${id}.json`, url: `${POKEMON_TCG_DATA}/cards/en/${id}.json`, maxBytes: 32 * MB })),
    },
    files: [],
  },
  {
    name: 'punk-records',
    title: 'Punk Records',
    game: 'onepiece',
    format: 'punk-records',
    website: 'https://github.com/buhbbl/punk-records',
    licence: 'AGPL-3.0 for its programs; the data is © Eiichiro Oda/Shueisha, Toei Animation, Bandai Namco Entertainment Inc.',
    termsUrl: 'https://github.com/buhbbl/punk-records#license-and-disclaimer',
    note: 'English packs and cards.',
    index: {
      name: 'packs.json',
      url: `${PUNK_RECORDS}/english/packs.json`,
      maxBytes: 16 * MB,
      isImported: true,
      filesOf: (document) =>
        filesOfIds(isObject(document) ? Object.values(document) : document, (id) => ({
          name: `cards-${id}.json`,
          url: `${PUNK_RECORDS}/english/data/${id}.json`,
          maxBytes: 32 * MB,
        })),
    },
    files: [],
  },
  {
    name: 'scryfall',
    title: 'Scryfall',
    game: 'magic',
    format: 'scryfall',
    website: 'https://scryfall.com/docs/api/bulk-data',
    licence: "Scryfall's terms and the Fan Content Policy of Wizards of the Coast: no paywall, nothing that suggests an endorsement",
    termsUrl: 'https://scryfall.com/docs/api',
    note: 'The default cards: every printing, in English where there is one. Cards that Scryfall has merged are merged.',
    index: {
      name: 'bulk-data.json',
      url: 'https://api.scryfall.com/bulk-data',
      maxBytes: MB,
      isImported: false,
      filesOf: scryfallFiles,
    },
    files: [],
  },
  {
    name: 'mtgjson',
    title: 'MTGJSON',
    game: 'magic',
    format: 'mtgjson',
    website: 'https://mtgjson.com',
    licence: 'MIT; the Fan Content Policy of Wizards of the Coast for the contents of the cards',
    termsUrl: 'https://mtgjson.com/license/',
    note: 'Sets with cards, tokens and sealed products.',
    index: null,
    files: [
      {
        name: 'AllPrintings.json.gz',
        url: 'https://mtgjson.com/api/v5/AllPrintings.json.gz',
        maxBytes: 1024 * MB,
        sha256Url: 'https://mtgjson.com/api/v5/AllPrintings.json.gz.sha256',
      },
    ],
  },
  {
    name: 'fab-cube',
    title: 'Flesh and Blood Cards',
    game: 'fab',
    format: 'flesh-and-blood',
    website: 'https://github.com/the-fab-cube/flesh-and-blood-cards',
    licence: 'no licence file; the README permits use in any project. Names, texts and pictures of the cards belong to Legend Story Studios',
    termsUrl: 'https://github.com/the-fab-cube/flesh-and-blood-cards#general-overview',
    note: 'English sets with all printings of their cards, without pictures.',
    index: null,
    files: ['set', 'card'].map((name) => ({ name: `${name}.json`, url: `${FAB_CUBE}/${name}.json`, maxBytes: 64 * MB })),
  },
  {
    name: 'ygoprodeck',
    title: 'YGOPRODeck',
    game: 'yugioh',
    format: 'ygoprodeck',
    website: 'https://ygoprodeck.com',
    licence: 'terms of its API guide; names, texts and pictures of the cards belong to Konami',
    termsUrl: 'https://ygoprodeck.com/api-guide/',
    note: 'The source forbids pages that load its pictures from it all the time: set IMAGE_PROXY=on.',
    index: null,
    files: [
      { name: 'cardsets.json', url: 'https://db.ygoprodeck.com/api/v7/cardsets.php', maxBytes: 16 * MB },
      { name: 'cardinfo.json', url: 'https://db.ygoprodeck.com/api/v7/cardinfo.php', maxBytes: 256 * MB, compressed: true },
    ],
  },
]

/** The sources that are offered: those whose format an import can read. */
export const PUBLIC_SOURCES: readonly PublicSource[] = ALL_SOURCES.filter(({ format }) => IMPORT_FORMATS.some(({ name }) => name === format))

/** Ids become part of URLs and of names of files. */
const ID = /^[\w.!-]{1,60}$/

function filesOfIds(document: unknown, fileOf: (id: string) => SourceFile): SourceFile[] | null {
  if (!Array.isArray(document)) return null
  const ids = document.map((row: unknown) => (isObject(row) && typeof row.id === 'string' && ID.test(row.id) ? row.id : null))
  return ids.length > 0 && ids.every((id) => id !== null) ? [...new Set(ids)].map(fileOf) : null
}

function scryfallFiles(document: unknown): SourceFile[] | null {
  const files = isObject(document) && Array.isArray(document.data) ? document.data : []
  const found: unknown = files.find((file: unknown) => isObject(file) && file.type === 'default_cards')
  if (!isObject(found) || typeof found.download_uri !== 'string') return null
  return [
    { name: 'sets.json', url: 'https://api.scryfall.com/sets', maxBytes: 16 * MB },
    { name: 'default-cards.json', url: found.download_uri, maxBytes: 2048 * MB, compressed: true },
    scryfallMigrations(1),
  ]
}

/** A page of the ids that Scryfall has given up. */
function scryfallMigrations(page: number): SourceFile {
  return {
    name: page === 1 ? 'migrations.json' : `migrations-${page}.json`,
    url: `https://api.scryfall.com/migrations?page=${page}`,
    maxBytes: 16 * MB,
    more: (document) => (isObject(document) ? (document.has_more === true ? [scryfallMigrations(page + 1)] : []) : null),
  }
}

/** The rarities, each with its cards, before the sets, whose cards have none. */
function tcgdexFiles(document: unknown): SourceFile[] | null {
  const sets = filesOfIds(document, (id) => ({ name: `set-${id}.json`, url: `${TCGDEX}/sets/${id}`, maxBytes: 8 * MB }))
  return sets && [{ name: 'rarities.json', url: `${TCGDEX}/rarities`, maxBytes: MB, more: tcgdexRarities }, ...sets]
}

function tcgdexRarities(document: unknown): SourceFile[] | null {
  if (!Array.isArray(document) || !document.every((rarity) => typeof rarity === 'string')) return null
  return document.map((rarity, i) => ({ name: `rarity-${i}.json`, url: `${TCGDEX}/rarities/${encodeURIComponent(rarity)}`, maxBytes: 16 * MB }))
}

function openTcgdexRows(): (document: unknown) => object[] | null {
  const rarities = new Map<unknown, string>()
  return (document) => {
    if (Array.isArray(document)) return []
    if (!isObject(document) || !Array.isArray(document.cards)) return null
    const { name } = document
    if ('serie' in document) return tcgdexRows(document, rarities)
    if (typeof name !== 'string') return null
    for (const card of document.cards.filter(isObject)) rarities.set(card.id, name)
    return []
  }
}

/** A set of the API becomes its series, the set and its cards, each with the set embedded. */
function tcgdexRows({ cards, serie, id, name, cardCount, logo }: Record<string, unknown>, rarities: ReadonlyMap<unknown, string>): object[] | null {
  if (!isObject(serie)) return null
  return [
    { id: serie.id, name: serie.name },
    { id, name, serie: serie.id, cardCount, ...(logo !== undefined && { logo }) },
    ...(cards as unknown[]).filter(isObject).map((card) => ({ ...card, rarity: rarities.get(card.id), set: { id, name, cardCount } })),
  ]
}
