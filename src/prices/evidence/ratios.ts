// Usual ratio of two markets by set and finish: America and Europe price cards differently, but consistently within a set.
import { MARKETS } from '#core/markets.ts'

/** Usual price in one market for an amount of 1 in another, both in one currency. */
export interface UsualRatio {
  ratio: number
  /** factor by which about two thirds of the cards deviate from the ratio at most; at least 1 */
  spread: number
  /** number of cards behind it; 0 if unknown */
  cards: number
}

/** A usual ratio of a set and finish; category 0 and finish '' mean the whole game. */
export interface GroupRatio extends UsualRatio {
  game: string
  categoryId: number
  finish: string
  marketA: number
  marketB: number
}

/** Ratios of one set and finish, by `marketA * MARKETS.length + marketB`; undefined if unknown. */
export type SetRatios = readonly (UsualRatio | undefined)[]

/** Two markets' prices of one item and label, in any order, as the ratio of B to A in one currency. */
export interface MarketPair {
  game: string
  categoryId: number
  finish: string
  marketA: number
  marketB: number
  ratio: number
}

/** Minimum cards for a usual ratio. */
const MIN_CARDS = 8
/** The ratio of a set differs from the game's by at most this factor: beyond it, faults of a whole set are more likely than another market. */
const MAX_FROM_GAME = 3
const NO_RATIOS: SetRatios = []

/** Looks up usual ratios: of the set and finish, within bounds around the game's, else of the finish in the game, else of the game. */
export class UsualRatios {
  readonly #byGroup = new Map<string, (UsualRatio | undefined)[]>()
  readonly #resolved = new Map<string, SetRatios>()

  constructor(ratios: Iterable<GroupRatio>) {
    for (const { game, categoryId, finish, marketA, marketB, ratio, spread, cards } of ratios) {
      const key = groupKey(game, categoryId, finish)
      let group = this.#byGroup.get(key)
      if (!group) this.#byGroup.set(key, (group = []))
      group[marketA * MARKETS.length + marketB] = { ratio, spread, cards }
      group[marketB * MARKETS.length + marketA] = { ratio: 1 / ratio, spread, cards }
    }
  }

  /** The ratios for items of a set and finish; always the same object. */
  of(game: string, categoryId: number, finish: string): SetRatios {
    const key = groupKey(game, categoryId, finish)
    let resolved = this.#resolved.get(key)
    if (!resolved) this.#resolved.set(key, (resolved = this.#resolve(game, categoryId, finish)))
    return resolved
  }

  #resolve(game: string, categoryId: number, finish: string): SetRatios {
    const groups = [groupKey(game, categoryId, finish), groupKey(game, 0, finish), groupKey(game, 0, '')].map((key) => this.#byGroup.get(key))
    if (groups.every((group) => group === undefined)) return NO_RATIOS
    return Array.from({ length: MARKETS.length ** 2 }, (_, pair) => {
      const [ofSet, ofFinish, ofGame] = groups.map((group) => group?.[pair])
      const ofMany = ofFinish ?? ofGame
      return ofSet && ofMany ? { ...ofSet, ratio: bounded(ofSet.ratio, ofMany.ratio) } : (ofSet ?? ofMany)
    })
  }
}

/** Usual ratios of all sets and finishes with enough cards, and of finishes and games as a whole. */
export function usualRatios(pairs: Iterable<MarketPair>): GroupRatio[] {
  const groups = new Map<string, { group: Omit<GroupRatio, keyof UsualRatio>; logs: number[] }>()
  for (const pair of pairs) {
    const { game, categoryId, finish } = pair
    const isOrdered = pair.marketA < pair.marketB
    const [marketA, marketB] = isOrdered ? [pair.marketA, pair.marketB] : [pair.marketB, pair.marketA]
    const owners = [
      [categoryId, finish],
      [0, finish],
      [0, ''],
    ] as const
    for (const [category, name] of finish === '' ? [owners[0], owners[2]] : owners) {
      const key = `${groupKey(game, category, name)} ${marketA} ${marketB}`
      let found = groups.get(key)
      if (!found) groups.set(key, (found = { group: { game, categoryId: category, finish: name, marketA, marketB }, logs: [] }))
      found.logs.push(isOrdered ? Math.log(pair.ratio) : -Math.log(pair.ratio))
    }
  }
  const ratios: GroupRatio[] = []
  for (const { group, logs } of groups.values()) {
    if (logs.length < MIN_CARDS) continue
    logs.sort((a, b) => a - b)
    const at = (share: number) => logs[Math.round((logs.length - 1) * share)]!
    ratios.push({ ...group, ratio: Math.exp(at(0.5)), spread: Math.exp((at(0.84) - at(0.16)) / 2), cards: logs.length })
  }
  return ratios
}

function bounded(ratio: number, ofGame: number): number {
  return Math.min(Math.max(ratio, ofGame / MAX_FROM_GAME), ofGame * MAX_FROM_GAME)
}

function groupKey(game: string, categoryId: number, finish: string): string {
  return `${game} ${categoryId} ${finish}`
}
