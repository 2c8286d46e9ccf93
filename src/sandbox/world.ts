// A sandbox that is open on this node: its data, its clock, and what can be done in it.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Plan } from '#core/plans.ts'
import type { Db } from '#db/schema.ts'
import type { DueWork, MovableClock } from '#jobs/due-work.ts'
import type { ForecastCtx } from '#market/marketplace-types.ts'
import type { PriceWriteCtx } from '#prices/records/price-types.ts'
import type { Reached, SandboxRow } from './sandbox-store.ts'
import type { SandboxProblem } from './sandbox-types.ts'

/** What the shop and the operator can do in a sandbox. */
export type PlayCtx = ForecastCtx & PriceWriteCtx

export interface World {
  id: number
  accountId: number
  generation: number
  db: Db
  clock: MovableClock
  /** the context of its shop and its operator */
  operator: PlayCtx
  /** its background work */
  work: readonly DueWork[]
  home: WorldHome
  /** Applies what other nodes have committed in it. */
  catchUp: () => Promise<void>
  /** Gives its account the plan of its owner. */
  usePlan: (plan: Plan) => Promise<void>
  /** Handles a request in it. */
  handle: (request: IncomingMessage, response: ServerResponse) => void
  close: () => Promise<void>
}

/** What a sandbox can ask of the service that it belongs to. */
export interface WorldHome {
  /**
   * Works in a sandbox while nobody else does, and leaves it `ready`, or `failed` with the reason.
   * @throws SANDBOX_BUSY while somebody else works in it; the error of the work
   */
  work: <T>(id: number, run: (work: Work) => Promise<T>) => Promise<T>
  /** The row as it is now. @throws SANDBOX_BUSY if the sandbox was deleted */
  row: (id: number) => Promise<SandboxRow>
  /** Gives a sandbox a new database that starts again; the old one is removed. */
  replace: (work: Work, fill: (world: World) => Promise<void>) => Promise<void>
}

/** Work under the lease of a sandbox. */
export interface Work {
  row: SandboxRow
  lease: string
  /** Stores how far it has come. @throws LeaseLostError, StopWork */
  keep: (reached: Reached) => Promise<void>
}

/** Somebody else has the sandbox now, or it was deleted. */
export class LeaseLostError extends Error {
  override name = 'LeaseLostError'
}

/** Ends work early. */
export class StopWork extends Error {
  override name = 'StopWork'
  readonly problem: SandboxProblem

  constructor(problem: SandboxProblem) {
    super(problem)
    this.problem = problem
  }
}
