// Which steps of two open transactions commute: learned from orders in which PostgreSQL let the second pass while the first was still open.
import { createHash } from 'node:crypto'
import { normalisedText } from './baseline.ts'
import { areDependent } from './footprint.ts'
import type { Step } from './schedule.ts'

/** A step with what decides its effect: its statement, those of its own write before it, and the transactions that have ended. */
export interface Placed {
  step: Step
  /** identifies the statement and those of its own write before it, each with the transactions that had ended */
  own: string
  /** identifies the transactions that had ended before it, and their order */
  epoch: string
}

/** Statements whose result depends on locks without waiting for them, and those that release locks before the transaction ends. */
const NOT_WAITING = /\bskip locked\b|\bnowait\b|\bpg_try_advisory|\bpg_locks\b|\bpg_blocking_pids\b|^rollback to\b/i

/** Follows the steps of one order. */
export class Places {
  readonly placed: Placed[] = []
  readonly #own = new Map<number, string>()
  #epoch = ''

  /** Places the steps that have been added since the last call. */
  follow(steps: readonly Step[]): this {
    for (const step of steps.slice(this.placed.length)) {
      const own = digest(this.#own.get(step.who) ?? String(step.who), this.#epoch, step.text, normalisedText(step.values))
      this.placed.push({ step, own, epoch: this.#epoch })
      this.#own.set(step.who, own)
      if (releases(step)) this.#epoch = digest(this.#epoch, own)
    }
    return this
  }
}

/**
 * Locks last until a transaction ends, locks conflict in both directions, and no statement sees what an open transaction has written. So if
 * a statement passes at once while the other write's transaction with an earlier statement is open, both touch other rows, and the two
 * change places without effect. The rows follow from the statements and from what has been committed, so this holds in every order in
 * which both writes have done the same and the same transactions have ended.
 */
export class Commuting {
  readonly #known = new Set<string>()

  /** Whether the order of two steps can matter, of which the later one runs, or would run, in its epoch. */
  areDependent(one: Placed, later: Placed): boolean {
    return areDependent(one.step.footprint, later.step.footprint) && !this.#known.has(keyOf(one, later))
  }

  learn(placed: readonly Placed[]): void {
    placed.forEach((later, j) => {
      if (!later.step.result.startsWith('ok') || !isInside(later.step)) return
      for (let i = j - 1; i >= 0 && placed[i]!.epoch === later.epoch; i--) {
        const earlier = placed[i]!
        // A statement that waits goes on waiting, whether the other write takes this step before or after it begins to wait.
        if (earlier.step.who === later.step.who || !isInside(earlier.step)) continue
        if (areDependent(earlier.step.footprint, later.step.footprint)) this.#known.add(keyOf(earlier, later))
      }
    })
  }
}

function keyOf(one: Placed, later: Placed): string {
  return one.step.who < later.step.who ? `${later.epoch} ${one.own} ${later.own}` : `${later.epoch} ${later.own} ${one.own}`
}

/** Whether a step ends a transaction or, by an error, releases its locks. */
function releases({ footprint, result, text }: Step): boolean {
  return footprint.ends !== null || !/^(ok|waits)/.test(result) || /^rollback to\b/i.test(text)
}

/** Whether a step only reads, writes and locks within an open transaction. */
function isInside(step: Step): boolean {
  return !releases(step) && !NOT_WAITING.test(step.text)
}

function digest(...parts: string[]): string {
  return createHash('sha1').update(parts.join('\0')).digest('base64').slice(0, 16)
}
