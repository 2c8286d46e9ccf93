// Normalises terms that Pokémon sources spell differently: rarities, stages, card types and collector numbers.
import { text } from './reading.ts'

// Keyed by the source's text in lower case. `rarityTerm` corrects differences in case only ("Double rare").
const RARITIES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'holo rare': 'Rare Holo',
    'holo rare v': 'Rare Holo V',
    'holo rare vmax': 'Rare Holo VMAX',
    'holo rare vstar': 'Rare Holo VSTAR',
    'rare ultra': 'Ultra Rare',
    'rare secret': 'Secret Rare',
    'rare shiny': 'Shiny Rare',
    'rare shiny gx': 'Shiny Rare GX',
    'rare ace': 'ACE SPEC Rare',
    'rare prime': 'Rare Prime',
    amazing: 'Amazing Rare',
  }),
)

/** The common spelling of a rarity; undefined if the source has none or the text `None`. */
export function rarityTerm(value: unknown): string | undefined {
  const rarity = text(value)
  if (rarity === undefined || rarity.toLowerCase() === 'none') return undefined
  const canonical = RARITIES.get(rarity.toLowerCase())
  return canonical ?? rarity.replace(/\brare\b/g, 'Rare').replace(/\billustration\b/g, 'Illustration')
}

const STAGES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    stage1: 'Stage 1',
    stage2: 'Stage 2',
    'level-up': 'Level-Up',
    restored: 'Restored',
  }),
)

/** `Stage1` → `Stage 1`. */
export function stageTerm(value: unknown): string | undefined {
  const stage = text(value)
  return stage && (STAGES.get(stage.toLowerCase()) ?? stage)
}

/** `Pokemon` → `Pokémon`; all sources spell the other types alike. */
export function cardTypeTerm(value: unknown): string | undefined {
  const type = text(value)
  return type === 'Pokemon' ? 'Pokémon' : type
}

/** A single capital letter: `j` → `J`; undefined for the text `None`. */
export function regulationMarkTerm(value: unknown): string | undefined {
  const mark = text(value)
  return mark && mark.length === 1 ? mark.toUpperCase() : undefined
}

/**
 * The total printed after the collector numbers of a set.
 * @returns null if unknown or 0, or for promo sets, which print only the number
 */
export function printedTotalOf(official: number | undefined, setName: string): number | null {
  return official === undefined || /\bpromos?\b/i.test(setName) ? null : official
}

/** The number as printed: `4` and 102 → `4/102`; numbers with letters (`TG12`, `SWSH020`) have no total. */
export function collectorNumber(number: string, printedTotal: number | null): string {
  return printedTotal !== null && /^\d+$/.test(number) ? `${number}/${printedTotal}` : number
}
