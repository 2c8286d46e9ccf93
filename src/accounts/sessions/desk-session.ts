// Sign-in to the seller's desk with an API key of a Plus account; its limits and counts also apply to the session.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { MarketNames } from '#core/markets.ts'
import { call, type Viewer } from '#core/verb.ts'
import type { WriteCtx } from '#db/changes/change.ts'
import { closeSellerSession } from './close-seller-session.ts'
import { allow } from '../keys/gate.ts'
import type { Keyring } from '../keys/keyring.ts'
import { openSellerSession } from './open-seller-session.ts'
import type { RateLimits } from '../limits/rate-limits.ts'
import { type MeCtx, readMe } from '../keys/read-me.ts'
import { addSessionRoutes, credentialIn, type SessionPages } from './session-routes.ts'

export interface DeskSessionParts {
  keys: Keyring
  limits: RateLimits | null
  ctx: (request: FastifyRequest, viewer: Viewer) => WriteCtx & MeCtx
  /** currency of each price source, for pages that show prices */
  currencies: Record<string, string>
  marketNames: MarketNames
  /** IANA zone of the times that the pages show */
  timeZone: string
}

/** Registers sign-in to the seller's desk; each counts as a request of the account. */
export function addDeskSession(app: FastifyInstance, pages: SessionPages, parts: DeskSessionParts): void {
  const { keys, limits, ctx, currencies, marketNames, timeZone } = parts
  addSessionRoutes(app, {
    ...pages,
    open: async (request, body) => {
      const viewer = await keys.findKey(credentialIn(body, 'key', 'api_key'), request)
      await allow(viewer, openSellerSession, limits, null)
      return { viewer, opened: await call(openSellerSession, ctx(request, viewer), {}) }
    },
    close: (request, viewer, session) => call(closeSellerSession, ctx(request, viewer), { session }),
    describe: async (request, viewer) => {
      if (viewer === null) return { account: null }
      const { account, key } = await call(readMe, ctx(request, viewer), {})
      return { account, key, currencies, market_names: marketNames, time_zone: timeZone }
    },
  })
}
