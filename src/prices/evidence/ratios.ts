// Usual ratio of two markets by set and finish: America and Europe price cards differently, but consistently within a set.
import { MARKETS } from '#core/markets.ts'
import { bitsOf } from './evidence-types.ts'
import { factorBetween } from './thresholds.ts'

/** Usual price in one market for an amount of 1 in another, both in one currency. */
export interface UsualRatio {
  ratio: number
  /** factor by which about two thirds of the cards deviate from the ratio at most; at least 1 */
  spread: number
  /** number of cards behind it; 0 if unknown */
  cards: number
}

/** A set and finish, and two markets; category 0 and finish '' mean the whole game. */
export interface RatioGroup {
  game: string
  categoryId: number
  finish: string
  marketA: number
  marketB: number
}

/** Usual price in the second market for an amount of 1 in the first. */
export interface GroupRatio extends RatioGroup, UsualRatio {}

export const RATIO_DECISIONS = ['confirmed', 'rejected'] as const

/** A person's decision about the ratio of a set, and the ratio that it was about. */
export interface RatioDecision {
  decision: (typeof RATIO_DECISIONS)[number]
  ratio: number
}

/** The usual ratio by which prices are compared. */
export interface AppliedRatio extends UsualRatio {
  /** the ratio that the cards of the set have, if another one is applied; otherwise null */
  learned: number | null
}

export const RATIO_STATES = ['open', ...RATIO_DECISIONS] as const

/** A set's ratio that is too far from the game's to be applied without a person's decision. */
export interface RatioBeyondLimit extends GroupRatio {
  /** ratio of the finish in the game, or of the game */
  ofGame: number
  applied: number
  state: (typeof RATIO_STATES)[number]
}

/** Ratios of one set and finish, by `marketA * MARKETS.length + marketB`; undefined if unknown. */
export type SetRatios = readonly (AppliedRatio | undefined)[]

/** Two markets' prices of one item and label, in any order, as the ratio of B to A in one currency. */
export interface MarketPair extends RatioGroup {
  ratio: number
}

/** Flags of prices that teach no ratio, because their own evidence contradicts them. A conflict of markets is not one: it depends on the ratio itself. */
export const TEACHES_NO_RATIO = bitsOf(['own_averages', 'jump', 'average_jump', 'identical_figures', 'shared_id', 'grade_order'])

/** Minimum cards for a usual ratio. */
const MIN_CARDS = 8
/**
 * The ratio of a set differs from the game's by at most this factor, unless a person confirms it: beyond it, faults of a whole set are more likely than
 * another market.
 */
const MAX_FROM_GAME = 3
/** A decision stands until the ratio differs from the one decided about by this factor. */
const MAX_FROM_DECIDED = 1.5
const NO_RATIOS: SetRatios = []

/** The ratio that is applied to a set, and its state if it is too far from the game's. */
export function appliedRatio(
  learned: number,
  ofGame: number,
  decided: RatioDecision | null,
): { applied: number; state: RatioBeyondLimit['state'] | null } {
  if (factorBetween(learned, ofGame) <= MAX_FROM_GAME) return { applied: learned, state: null }
  const state = decided && factorBetween(learned, decided.ratio) < MAX_FROM_DECIDED ? decided.decision : 'open'
  if (decided?.decision === 'rejected') return { applied: ofGame, state }
  // A confirmed ratio extends the limit up to itself, so that the cards of one wrong day teach nothing beyond it.
  const limits = [ofGame / MAX_FROM_GAME, ofGame * MAX_FROM_GAME, ...(decided ? [decided.ratio] : [])]
  return { applied: Math.min(Math.max(learned, Math.min(...limits)), Math.max(...limits)), state }
}

/** A learned ratio, with the decision about it. */
interface LearnedRatio extends UsualRatio {
  decided: RatioDecision | null
}

/** Looks up usual ratios: of the set and finish, as far as it may be applied, else of the finish in the game, else of the game. */
export class UsualRatios {
  readonly #ratios: readonly GroupRatio[]
  readonly #byGroup = new Map<string, (LearnedRatio | undefined)[]>()
  readonly #resolved = new Map<string, SetRatios>()

  /** @param decisions by `ratioKey` */
  constructor(ratios: Iterable<GroupRatio>, decisions: ReadonlyMap<string, RatioDecision> = new Map()) {
    this.#ratios = [...ratios]
    for (const learned of this.#ratios) {
      const { game, categoryId, finish, marketA, marketB, ratio, spread, cards } = learned
      const decided = decisions.get(ratioKey(learned)) ?? null
      const key = groupKey(game, categoryId, finish)
      let group = this.#byGroup.get(key)
      if (!group) this.#byGroup.set(key, (group = []))
      group[marketA * MARKETS.length + marketB] = { ratio, spread, cards, decided }
      const turned = decided && { ...decided, ratio: 1 / decided.ratio }
      group[marketB * MARKETS.length + marketA] = { ratio: 1 / ratio, spread, cards, decided: turned }
    }
  }

  /** The ratios for items of a set and finish; always the same object. */
  of(game: string, categoryId: number, finish: string): SetRatios {
    const key = groupKey(game, categoryId, finish)
    let resolved = this.#resolved.get(key)
    if (!resolved) this.#resolved.set(key, (resolved = this.#resolve(game, categoryId, finish)))
    return resolved
  }

  /** Ratios of sets that are too far from the game's to be applied without a decision. */
  beyondLimit(): RatioBeyondLimit[] {
    return this.#ratios.flatMap((learned) => {
      const { game, categoryId, finish, marketA, marketB, ratio } = learned
      if (categoryId === 0) return []
      const [ofSet, ofGame] = this.#learned(game, categoryId, finish, marketA * MARKETS.length + marketB)
      const { applied, state } = ofGame ? appliedRatio(ratio, ofGame.ratio, ofSet!.decided) : { applied: ratio, state: null }
      return state === null ? [] : [{ ...learned, ofGame: ofGame!.ratio, applied, state }]
    })
  }

  #resolve(game: string, categoryId: number, finish: string): SetRatios {
    const groups = [groupKey(game, categoryId, finish), groupKey(game, 0, finish), groupKey(game, 0, '')]
    if (!groups.some((key) => this.#byGroup.has(key))) return NO_RATIOS
    return Array.from({ length: MARKETS.length ** 2 }, (_, pair) => {
      const [ofSet, ofGame] = this.#learned(game, categoryId, finish, pair)
      const either = ofSet ?? ofGame
      if (!either) return undefined
      const { ratio, spread, cards } = either
      const applied = ofSet && ofGame ? appliedRatio(ratio, ofGame.ratio, ofSet.decided).applied : ratio
      return { ratio: applied, spread, cards, learned: applied === ratio ? null : ratio }
    })
  }

  /** What the cards of a set and finish have, and those of the finish in the game, or of the game. */
  #learned(game: string, categoryId: number, finish: string, pair: number): [ofSet: LearnedRatio | undefined, ofGame: LearnedRatio | undefined] {
    const of = (category: number, name: string) => this.#byGroup.get(groupKey(game, category, name))?.[pair]
    return [of(categoryId, finish), of(0, finish) ?? of(0, '')]
  }
}

/** Usual ratios of all sets and finishes with enough cards, and of finishes and games as a whole. */
export function usualRatios(pairs: Iterable<MarketPair>): GroupRatio[] {
  const groups = new Map<string, { group: RatioGroup; logs: number[] }>()
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

/** What a ratio is about, as a key. */
export function ratioKey({ game, categoryId, finish, marketA, marketB }: RatioGroup): string {
  return [game, categoryId, finish, marketA, marketB].join('\t')
}

function groupKey(game: string, categoryId: number, finish: string): string {
  return `${game} ${categoryId} ${finish}`
}
