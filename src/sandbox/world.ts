// A sandbox that is open on this node: its data, its clock, and what it can do.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Plan } from '#core/plans.ts'
import type { Db } from '#db/schema.ts'
import type { DueWork, MovableClock } from '#jobs/due-work.ts'
import type { ForecastCtx } from '#market/marketplace-types.ts'
import type { PriceWriteCtx } from '#prices/records/price-types.ts'

/** What the shop and the operator can do in a sandbox. */
export type PlayCtx = ForecastCtx & PriceWriteCtx

export interface World {
  id: number
  generation: number
  db: Db
  clock: MovableClock
  /** the context of its shop and its operator */
  operator: PlayCtx
  /** its background work */
  work: readonly DueWork[]
  /** Applies what other nodes have committed in it. */
  catchUp: () => Promise<void>
  /** Gives its account the plan of its owner. */
  usePlan: (plan: Plan) => Promise<void>
  /** Handles a request in it. */
  handle: (request: IncomingMessage, response: ServerResponse) => void
  close: () => Promise<void>
}
