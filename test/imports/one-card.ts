// A small set as stated by two sources, for tests of how their records become items.
import type { TestNode } from '../support/node.ts'
import { exportCatalogue } from '#catalogue/export.ts'

const NAMES = ['Alakazam', 'Blastoise', 'Chansey', 'Charizard', 'Clefairy', 'Gyarados']

const lines = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('')

/** TCGdex: each card as a holo and a reverse holo, with shop ids. */
export const tcgdexSets = lines([
  { id: 'base', name: { en: 'Base' } },
  { id: 'base1', name: { en: 'Base Set' }, serie: 'base', cardCount: { official: 102 }, abbreviations: { official: 'BS' } },
])
export const tcgdexCards = lines(
  NAMES.map((name, i) => ({
    id: `base1-${i + 1}`,
    localId: String(i + 1),
    name: { en: name, fr: `${name} fr` },
    category: 'Pokemon',
    set: 'base1',
    hp: 50 + 10 * i,
    rarity: 'Rare',
    illustrator: 'Ken Sugimori',
    // The first printing of one card, which has the card's own ref, is not its plainest one.
    variants: (i === 4 ? ['reverse', 'holo'] : ['holo', 'reverse']).map((type) => ({
      type,
      thirdParty: { cardmarket: 1000 + i, tcgplayer: 2000 + i },
    })),
  })),
)
/** The same cards as in its older English API: without shop ids and reliable printings. */
export const tcgdexOld = lines(
  NAMES.map((name, i) => ({
    id: `base1-${i + 1}`,
    localId: String(i + 1),
    name: `${name}-old`,
    category: 'Pokemon',
    hp: 50 + 10 * i,
    rarity: 'Rare',
    set: { id: 'base1', name: 'Base Set', cardCount: { official: 102 } },
    variants: { normal: true, reverse: true, holo: false, firstEdition: false },
  })),
)
export const pokemontcgSets = JSON.stringify([{ id: 'base1', name: 'Base', series: 'Base', printedTotal: 102, ptcgoCode: 'BS', images: {} }])
export const pokemontcgCards = lines(
  NAMES.map((name, i) => ({
    id: `base1-${i + 1}`,
    name,
    supertype: 'Pokémon',
    number: String(i + 1),
    hp: String(50 + 10 * i),
    rarity: 'Rare Holo',
    artist: 'Ken Sugimori',
    level: String(40 + i),
    images: { large: `https://x.test/${i + 1}.png` },
  })),
)

/** The whole export as text. */
export async function exported(node: Pick<TestNode, 'db'>): Promise<string> {
  let text = ''
  for await (const chunk of exportCatalogue(node.db, { allPrices: true })) text += chunk
  return text
}

/** Items of the export without what depends on the order of imports: slugs, which never change once assigned. */
export async function exportedItems(node: Pick<TestNode, 'db'>): Promise<Record<string, unknown>[]> {
  return (await exported(node))
    .split('\n')
    .filter((line) => line.includes('"type":"item"'))
    .map((line) => {
      const { slug: _slug, ...item } = JSON.parse(line) as Record<string, unknown>
      return item
    })
}
