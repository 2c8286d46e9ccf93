// A generated catalogue of the five games in `games/`: names of thousands of distinct words, and numbers, rarities, finishes and languages as the
// folders of the games describe them.
import { readFileSync } from 'node:fs'
import { MARKETS } from '#core/markets.ts'
import { randomNumbers } from '#core/random.ts'
import { type Game, GAMES } from '#games/games.ts'
import type { NumberFormData } from '#games/schema.ts'
import { copyGeneratedData, type GeneratedCatalogue, generatedMarket, generatedRef } from './generated-data.ts'
import type { Db } from '#db/schema.ts'

/** Distinct words of a game's names. */
const WORDS = 12_000
/** Printings of a name, on average. */
const PRINTINGS = 5
const ITEMS_PER_SET = 250
const SYLLABLES = 'ka,ri,mo,ven,tor,el,sha,dra,li,no,bel,gar,ith,os,uma,zel,fen,qui,ran,ost,ael,mir,dun,pha,tsu,ya,keth,var,ul,sin,gro,lar'.split(',')
const ILLUSTRATORS = 500
/** Shares of a game's rarities, finishes and languages: each next one is this much rarer. */
const RARER = 0.55
const FOREIGN_SHARE = 0.15

/** The words of a game, the most frequent first; its catalogue has a name's words by their rank. */
export interface GeneratedGame {
  game: Game
  words: string[]
  names: string[]
  forms: NumberFormData[]
  rarities: string[]
  finishes: string[]
  languages: string[]
}

/** Items 1 to `items` take turns among the games; set `n` belongs to the game of its number, too. */
export async function copyGeneratedGames(db: Db, items: number): Promise<GeneratedGame[]> {
  const games = generatedGames(items)
  await copyGeneratedData(db, items, catalogueOf(games, items))
  return games
}

export function generatedGames(items: number): GeneratedGame[] {
  return GAMES.all.map((game, i) => {
    const random = randomNumbers(items + i)
    const words = generatedWords(random)
    const names = Array.from({ length: Math.ceil(items / GAMES.all.length / PRINTINGS) }, () => generatedName(words, random))
    return {
      game,
      words,
      names,
      forms: formsOf(game.slug),
      rarities: [...new Set(game.rarities.order.flatMap(({ rarities }) => rarities))],
      finishes: ['Normal', ...game.finishes.foils, ...game.finishes.separate].map(capitalised),
      languages: Object.keys(game.languages.names).map(capitalised),
    }
  })
}

function catalogueOf(games: readonly GeneratedGame[], items: number): GeneratedCatalogue {
  const sets = Math.max(games.length, Math.ceil(items / ITEMS_PER_SET))
  return {
    categoryLines: function* () {
      for (const [i, { game }] of games.entries()) yield categoryLine(i + 1, game.name, game.slug, '\\N')
      for (let set = 0; set < sets; set += 1) {
        const { game, words } = games[set % games.length]!
        const name = `${capitalised(words[(set * 31) % WORDS]!)} ${capitalised(words[(set * 17) % WORDS]!)}`
        yield categoryLine(games.length + 1 + set, name, game.slug, String((set % games.length) + 1))
      }
    },
    itemLine: (id, random) => {
      const turn = id % games.length
      const ofGame = games[turn]!
      const set = turn + games.length * (Math.floor(id / ITEMS_PER_SET / games.length) % Math.floor(sets / games.length))
      return itemLine(id, games.length + 1 + set, ofGame, random)
    },
  }
}

function categoryLine(id: number, name: string, game: string, parent: string): string {
  return `${[id, 'source_c', `generated:set${id}`, name, `generated-${id}`, game, parent].join('\t')}\n`
}

function itemLine(id: number, set: number, { game, names, forms, rarities, finishes, languages }: GeneratedGame, random: () => number): string {
  const sealed = random() < 0.03
  const name = names[Math.floor(names.length * random() ** 2)]!
  const number = numberOf(forms[0] ?? { number: ['digits'] }, set, 1 + (Math.floor(id / 5) % ITEMS_PER_SET), random)
  const rarity = geometric(rarities, random)
  const language = random() < FOREIGN_SHARE ? geometric(languages.slice(1), random) : 'English'
  const attributes = sealed
    ? [{ name: 'Product Type', value: 'Booster Box' }]
    : [
        { name: 'Rarity', value: rarity },
        { name: 'Finish', value: geometric(finishes, random) },
        // Sources with an item for each language write its name, others the code of the printing.
        game.languages.ownItems ? { name: 'Language', value: language } : { name: 'Languages', value: game.languages.names[language.toLowerCase()]! },
        { name: 'Illustrator', value: `${names[Math.floor(random() * ILLUSTRATORS)]!} ${SYLLABLES[set % SYLLABLES.length]!}` },
      ]
  return `${[
    id,
    MARKETS[generatedMarket(id)],
    generatedRef(id),
    sealed ? `${name} Booster Box` : name,
    sealed ? '\\N' : number,
    `generated-item-${id}`,
    sealed ? 'sealed' : 'single',
    game.slug,
    set,
    JSON.stringify([{ url: `https://images.example.com/${set}/${id}.png`, order: 1 }]),
    JSON.stringify(attributes),
    sealed ? '{1}' : '{1,2}',
    JSON.stringify(sealed ? {} : { rarity, ...(game.slug === 'pokemon' && { hp: 30 + 10 * Math.floor(random() * 30), stage: 'Basic' }) }),
  ].join('\t')}\n`
}

/** A collector number of a form: letters and digits of its set part from the set, those of its number part from the number. */
function numberOf({ set = [], separator = '', number, total = false }: NumberFormData, ofSet: number, ofCard: number, random: () => number): string {
  const write = (part: string, digits: string) => {
    const optional = part.endsWith('?')
    const kind = optional ? part.slice(0, -1) : part
    if (kind === 'digits') return digits
    if (optional && random() < 0.95) return ''
    if (kind === 'capitals') return String.fromCharCode(65 + (ofSet % 26), 65 + (Math.floor(ofSet / 26) % 26), 65 + (Math.floor(ofSet / 676) % 26))
    return kind === 'lowercase' ? 'a' : kind
  }
  const printed = number.map((part) => write(part, String(ofCard).padStart(3, '0'))).join('')
  return `${set.map((part) => write(part, String(ofSet % 100).padStart(2, '0'))).join('')}${set.length > 0 ? separator : ''}${printed}${total ? `/${ITEMS_PER_SET}` : ''}`
}

/** Distinct words of two to four syllables. */
function generatedWords(random: () => number): string[] {
  const words = new Set<string>()
  while (words.size < WORDS) {
    const length = 2 + Math.floor(random() * 3)
    words.add(Array.from({ length }, () => SYLLABLES[Math.floor(random() * SYLLABLES.length)]!).join(''))
  }
  return [...words]
}

function generatedName(words: readonly string[], random: () => number): string {
  const length = 1 + Math.floor(random() * 3)
  return Array.from({ length }, () => capitalised(words[frequent(random, words.length)]!)).join(' ')
}

/** A rank from 0 whose frequency falls as its inverse, as Zipf's law says of words. */
function frequent(random: () => number, ranks: number): number {
  return Math.min(ranks - 1, Math.floor((ranks + 1) ** random()) - 1)
}

/** An entry of a list, each next one rarer. */
function geometric(list: readonly string[], random: () => number): string {
  return list[Math.min(list.length - 1, Math.floor(Math.log(1 - random()) / Math.log(RARER)))]!
}

function capitalised(text: string): string {
  return `${text[0]!.toUpperCase()}${text.slice(1)}`
}

/** The loaded game has its forms as expressions, so they are read from its folder. */
function formsOf(slug: string): NumberFormData[] {
  const file = new URL(`../games/${slug}/numbers.json`, import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as { forms?: NumberFormData[] }).forms ?? []
}
