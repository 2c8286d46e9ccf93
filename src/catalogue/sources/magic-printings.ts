// Items of a Magic printing, shared by the readers of MTGJSON and Scryfall: one item for each finish, with both faces in one name.
import type { Market } from '#core/markets.ts'
import { gameOf } from '#games/games.ts'
import { finishSlug } from '../records/finishes.ts'
import type { ForeignId, ItemRecord } from '../records/catalogue-records.ts'
import { attributeList, type Entry } from './reading.ts'

const RULES = gameOf('magic').finishes
const FOIL = finishSlug('Foil', RULES)

/** A printing as either source states it. */
export interface MagicPrinting {
  source: 'mtgjson' | 'scryfall'
  market: Market
  /** the source's id; a printing in another language than English starts with its language: `ja:<id>` */
  id: string
  /** one name for each face: `Fire // Ice` */
  name: string
  /** names in other languages or of other versions of the card */
  names: readonly string[]
  number: string
  category: string
  /** `nonfoil`, `foil`, `etched` */
  finishes: readonly string[]
  oversized: boolean
  /** special foils and stamps in the spelling of both sources: `surgefoil` */
  promoTypes: readonly string[]
  /** frames and borders: `showcase`, `extendedart`, `borderless` */
  frames: readonly string[]
  language: string
  rarity: string | undefined
  type: string | undefined
  artist: string | undefined
  images: readonly string[]
  /** ids of the printing in other systems; they name the printing in all its finishes */
  ids: readonly Omit<ForeignId, 'finish'>[]
  /** TCGplayer's product of the etched foil, which is one of its own */
  etchedId: string | undefined
}

const FINISHES: Readonly<Record<string, string>> = { nonfoil: 'Normal', foil: 'Foil', etched: 'Etched Foil', glossy: 'Glossy' }

/** Foils whose name does not end with `foil`. */
const SPECIAL_FOILS: Readonly<Record<string, string>> = {
  doublerainbow: 'Double Rainbow Foil',
  gilded: 'Gilded Foil',
  oilslick: 'Oil Slick Foil',
  stepandcompleat: 'Step-and-Compleat Foil',
  textured: 'Textured Foil',
}

const FRAMES: Readonly<Record<string, string>> = { borderless: 'Borderless', extendedart: 'Extended Art', showcase: 'Showcase', inverted: 'Inverted' }

const RARITIES: Readonly<Record<string, string>> = {
  common: 'Common',
  uncommon: 'Uncommon',
  rare: 'Rare',
  mythic: 'Mythic Rare',
  special: 'Special',
  bonus: 'Bonus',
}

/** Codes of Scryfall that differ from those of other sources. */
const LANGUAGES: Readonly<Record<string, string>> = { zhs: 'zh-cn', zht: 'zh-tw' }

/** The usual code of a language of Scryfall. */
export const languageOf = (code: string): string => LANGUAGES[code] ?? code

/** One entry for each finish; the card's own ref is that of its normal printing. */
export function magicEntries(printing: MagicPrinting): Entry[] {
  const { source, market, id, number, category } = printing
  const faces = [...new Set(printing.name.split(' // '))]
  const name = faces.join(' // ')
  const names = [...new Set([...(faces.length > 1 ? faces : []), ...printing.names])].filter((other) => other !== name)
  const rarity = RARITIES[printing.rarity ?? ''] ?? printing.rarity
  const finishes = printing.finishes.length > 0 ? printing.finishes : ['nonfoil']
  return finishes.map((finish) => {
    const label = finishLabel(finish, printing)
    const slug = finishSlug(label, RULES)
    const item: ItemRecord = {
      market,
      ref: `${source}:${id}${slug === 'normal' ? '' : `:${slug}`}`,
      name,
      code: number,
      genre: 'single',
      game: 'magic',
      category,
      images: printing.images.map((url, i) => ({ url, order: i + 1 })),
      attributes: attributeList([
        ['Rarity', rarity],
        ['Set Number', number],
        ['Finish', label],
        ['Card Type', printing.type],
        ['Illustrator', printing.artist],
        ['Treatment', printing.frames.flatMap((frame) => FRAMES[frame] ?? []).join(', ') || undefined],
        ['Languages', printing.language],
      ]),
      groups: ['ungraded', 'graded'],
      details: { rarity, illustrator: printing.artist, ...(names.length > 0 && { names }) },
      foreignIds: foreignIdsOf(printing, finish, slug),
    }
    return { key: { source, id, finish: slug }, item }
  })
}

function finishLabel(finish: string, { promoTypes, oversized }: MagicPrinting): string {
  const special = finish === 'foil' ? promoTypes.map(specialFoil).find((label) => label !== undefined) : undefined
  const label = special ?? FINISHES[finish] ?? finish
  if (!oversized) return label
  return finish === 'nonfoil' ? 'Oversized' : `${label} Oversized`
}

/** `surgefoil` → `Surge Foil`. */
function specialFoil(promoType: string): string | undefined {
  const [, word] = /^([a-z]+)foil$/.exec(promoType) ?? []
  return word === undefined ? SPECIAL_FOILS[promoType] : `${word[0]!.toUpperCase()}${word.slice(1)} Foil`
}

/** Shops call every foil foil; only an etched foil beside another one needs its own name. */
function foreignIdsOf({ finishes, ids, etchedId }: MagicPrinting, finish: string, slug: string): ForeignId[] {
  const word = finish === 'nonfoil' ? 'normal' : finish === 'etched' && finishes.includes('foil') ? slug : FOIL
  const etched = finish === 'etched' && etchedId !== undefined
  return [
    ...ids.filter(({ source }) => !(etched && source === 'tcgplayer')).map((id) => ({ ...id, finish: word })),
    ...(etched ? [{ source: 'tcgplayer', id: etchedId, finish: FOIL }] : []),
  ]
}
