// Sign-in to the console with name, password and code, a one-time link or an operator token; and changes of one's own credentials.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { closeConsoleSession } from '#accounts/sessions/close-console-session.ts'
import type { Keyring } from '#accounts/keys/keyring.ts'
import { openConsoleSession } from '#accounts/sessions/open-console-session.ts'
import { joinByLink } from '#accounts/people/join.ts'
import { beginTwoFactor, changePassword, confirmTwoFactor } from '#accounts/people/own-secrets.ts'
import { type PeopleParts, signInPerson } from '#accounts/people/sign-in.ts'
import { addSessionRoutes, sendData, credentialIn, type SessionPages, sessionCaller } from '#accounts/sessions/session-routes.ts'
import { unauthenticated } from '#core/errors.ts'
import type { MarketNames } from '#core/markets.ts'
import { reason } from '#core/problems.ts'
import { allowedNeeds } from '#core/roles.ts'
import type { Sealing } from '#core/sealing.ts'
import { call, type Viewer } from '#core/verb.ts'
import type { WriteCtx } from '#db/changes/change.ts'
import { registerOtherMethods } from '#http/routes.ts'
import { readFirstSteps } from './read-first-steps.ts'

export interface ConsoleSessionParts {
  operators: Keyring
  /** seals the secrets of authenticator apps */
  sealing: Sealing
  ctx: (request: FastifyRequest, viewer: Viewer) => WriteCtx
  /** currency of each price source, for pages that show prices */
  currencies: Record<string, string>
  marketNames: MarketNames
  /** name of the identity provider with which people can sign in; null for none */
  provider: string | null
}

/** The viewer of a sign-in by link or name, before the person is known. */
const ANONYMOUS: Viewer = Object.freeze({ kind: 'operator', name: 'link' })

/** Registers sign-in to the console, and the endpoints where people change their own credentials. */
export function addConsoleSession(app: FastifyInstance, pages: SessionPages, parts: ConsoleSessionParts): void {
  const { operators, sealing, ctx, currencies, marketNames, provider } = parts
  const peopleOf = ({ db, now }: WriteCtx): PeopleParts => ({ db, now, failures: operators.failures, sealing })
  const viewerBy = (request: FastifyRequest, body: Record<string, unknown>): Viewer | Promise<Viewer> => {
    const anonymous = ctx(request, ANONYMOUS)
    if ('link' in body) return joinByLink(peopleOf(anonymous), anonymous, body, request)
    if ('name' in body) return signInPerson(peopleOf(anonymous), body, request)
    return operators.findKey(credentialIn(body, 'token', 'operator_token'), request)
  }
  addSessionRoutes(app, {
    ...pages,
    open: async (request, body) => {
      const viewer = await viewerBy(request, body)
      const seen = { address: request.ip, browser: request.headers['user-agent'] ?? '' }
      const token = 'link' in body || 'name' in body ? {} : { token: body.token }
      return { viewer, opened: await call(openConsoleSession, ctx(request, viewer), { ...seen, ...token }) }
    },
    close: (request, viewer, session) => call(closeConsoleSession, ctx(request, viewer), { session }),
    describe: async (request, viewer) => {
      if (viewer?.kind !== 'operator') return { operator: null, provider }
      const { person } = viewer
      const steps = person?.unfinished ? null : await call(readFirstSteps, ctx(request, viewer), {})
      return {
        operator: viewer.name,
        provider,
        person: person ? { id: person.id, roles: person.roles, unfinished: person.unfinished ?? false } : null,
        may: allowedNeeds(person),
        first_steps: steps !== null && !steps.done,
        is_empty: steps?.steps.some(({ step, done }) => step === 'catalogue' && !done) ?? false,
        currencies,
        market_names: marketNames,
      }
    },
  })

  const callerOf = sessionCaller(pages)
  /** A write by the signed-in person; their API tokens may not change their credentials. */
  const own = (path: string, write: (parts: PeopleParts, ctx: WriteCtx, body: unknown) => Promise<object>) => {
    app.post(path, { schema: { hide: true } as object }, async (request: FastifyRequest, reply: FastifyReply) => {
      const caller = callerOf(request)
      if (caller === null) throw unauthenticated(reason('own_pages_only'))
      const writing = ctx(request, await caller.viewer)
      return sendData(reply, await write(peopleOf(writing), writing, request.body ?? {}))
    })
    registerOtherMethods(app, path, ['POST'])
  }
  own('/console/password', changePassword)
  own('/console/two-factor', beginTwoFactor)
  own('/console/two-factor/confirm', confirmTwoFactor)
}
