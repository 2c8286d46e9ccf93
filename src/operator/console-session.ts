// Signing in to the console: with an operator token.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { closeConsoleSession } from '#accounts/close-console-session.ts'
import type { Keyring } from '#accounts/keyring.ts'
import { openConsoleSession } from '#accounts/open-console-session.ts'
import { addSessionRoutes, type SessionPages } from '#accounts/session-routes.ts'
import type { MarketNames } from '#core/markets.ts'
import { call, type Viewer } from '#core/verb.ts'
import type { WriteCtx } from '#db/change.ts'

export interface ConsoleSessionParts {
  operators: Keyring
  ctx: (request: FastifyRequest, viewer: Viewer) => WriteCtx
  /** currency of each price source, for pages that show prices */
  currencies: Record<string, string>
  marketNames: MarketNames
}

/** Registers sign-in to the console. */
export function addConsoleSession(app: FastifyInstance, pages: SessionPages, { operators, ctx, currencies, marketNames }: ConsoleSessionParts): void {
  addSessionRoutes(app, {
    ...pages,
    credentials: operators,
    field: 'token',
    must: 'operator_token',
    open: (request, viewer, token) => call(openConsoleSession, ctx(request, viewer), { token }),
    close: (request, viewer, session) => call(closeConsoleSession, ctx(request, viewer), { session }),
    describe: (_request, viewer) =>
      viewer?.kind === 'operator' ? { operator: viewer.name, currencies, market_names: marketNames } : { operator: null },
  })
}
