// Signing in to the console: the session cookie, and when the operator API takes it in a token's place.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { closeConsoleSession } from '#accounts/close-console-session.ts'
import type { SessionCaller } from '#accounts/gate.ts'
import type { Keyring } from '#accounts/keyring.ts'
import { openConsoleSession } from '#accounts/open-console-session.ts'
import { invalid, ServiceError, unauthenticated } from '#core/errors.ts'
import type { MarketNames } from '#core/markets.ts'
import { reason } from '#core/problems.ts'
import { call, type Viewer } from '#core/verb.ts'
import type { WriteCtx } from '#db/change.ts'
import { successBody } from '#http/envelope.ts'
import { registerOtherMethods } from '#http/routes.ts'

const SESSION_PATH = '/console/session'
const COOKIE = 'mintmark_console'
const COOKIE_VALUE = /(?:^|;) *mintmark_console=([^;]*)/

export interface SessionParts {
  operators: Keyring
  sessions: Keyring
  ctx: (request: FastifyRequest, viewer: Viewer) => WriteCtx
  /** currency of each price source, for pages that show prices */
  currencies: Record<string, string>
  marketNames: MarketNames
}

/**
 * Who calls by the console's cookie, null for a request without it. No other site can make a browser send this: the
 * cookie stays on this site, the header `X-Console` takes a script of our own origin, and `Origin` names it.
 */
export function sessionCaller(sessions: Keyring): (request: FastifyRequest) => SessionCaller | null {
  return (request) => {
    if (request.headers.authorization !== undefined) return null
    const secret = sessionOf(request)
    if (secret === null) return null
    refuseOtherOrigins(request)
    return { secret, viewer: sessions.findKey(secret, request) }
  }
}

/** Registers sign-in, sign-out and the question who is signed in. */
export function addConsoleSession(app: FastifyInstance, { operators, sessions, ctx, currencies, marketNames }: SessionParts): void {
  const hide = { schema: { hide: true } as object }
  app.get(SESSION_PATH, hide, async (request, reply) => {
    const session = sessionOf(request)
    const viewer = session === null ? null : await known(sessions, session, request)
    return answer(reply, { operator: nameOf(viewer), ...(viewer && { currencies, market_names: marketNames }) })
  })
  app.post(SESSION_PATH, hide, async (request, reply) => {
    refuseOtherOrigins(request)
    const token = (request.body as { token?: unknown } | undefined)?.token
    if (typeof token !== 'string' || token === '') throw invalid('token', 'operator_token')
    const viewer = await operators.findKey(token, request)
    const { session, expiresAt } = await call(openConsoleSession, ctx(request, viewer), { token })
    setCookie(request, reply, session, expiresAt)
    return answer(reply, { operator: nameOf(viewer), expires_at: expiresAt.toISOString() })
  })
  app.delete(SESSION_PATH, hide, async (request, reply) => {
    refuseOtherOrigins(request)
    const session = sessionOf(request)
    const viewer = session === null ? null : await known(sessions, session, request)
    if (session !== null && viewer) await call(closeConsoleSession, ctx(request, viewer), { session })
    setCookie(request, reply, '', new Date(0))
    return answer(reply, { operator: null })
  })
  registerOtherMethods(app, SESSION_PATH, ['GET', 'POST', 'DELETE'])
}

function refuseOtherOrigins(request: FastifyRequest): void {
  if (request.headers['x-console'] !== '1') throw unauthenticated(reason('console_only'))
  const { origin } = request.headers
  const reads = request.method === 'GET' || request.method === 'HEAD'
  const ours = origin === undefined ? reads : URL.canParse(origin) && new URL(origin).host === request.host
  if (!ours) throw new ServiceError('FORBIDDEN', reason('console_only'))
}

function sessionOf(request: FastifyRequest): string | null {
  return COOKIE_VALUE.exec(request.headers.cookie ?? '')?.[1] || null
}

/** The viewer of a session, null when it has ended. */
async function known(sessions: Keyring, session: string, request: FastifyRequest): Promise<Viewer | null> {
  try {
    return await sessions.findKey(session, request)
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'UNAUTHENTICATED') return null
    throw error
  }
}

function nameOf(viewer: Viewer | null): string | null {
  return viewer?.kind === 'operator' ? viewer.name : null
}

function setCookie(request: FastifyRequest, reply: FastifyReply, value: string, expires: Date): void {
  const secure = request.protocol === 'https' ? '; Secure' : ''
  reply.header('set-cookie', `${COOKIE}=${value}; Path=/; HttpOnly; SameSite=Strict; Expires=${expires.toUTCString()}${secure}`)
}

function answer(reply: FastifyReply, data: object): FastifyReply {
  reply.header('cache-control', 'no-store').type('application/json; charset=utf-8')
  return reply.send(JSON.stringify(successBody({ data })))
}
