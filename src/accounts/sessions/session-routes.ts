// Sign-in to web pages: the session cookie, and when it is accepted instead of the credential it was created with.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { invalid, ServiceError, unauthenticated } from '#core/errors.ts'
import { reason } from '#core/problems.ts'
import type { Viewer } from '#core/verb.ts'
import { successBody } from '#http/envelope.ts'
import { registerOtherMethods } from '#http/routes.ts'
import type { SessionCaller } from '../keys/gate.ts'
import type { Keyring } from '../keys/keyring.ts'

export interface NewSession {
  /** the cookie's value, in this result only */
  session: string
  expiresAt: Date
}

export interface SessionPages {
  /** path of the pages, also used in the cookie `mintmark_<app>` and the header `X-<app>` of their requests */
  app: 'console' | 'desk'
  sessions: Keyring
  /** public address of the service if it is set, such as `https://cards.example` */
  publicUrl: string | null
}

export interface SignIn extends SessionPages {
  /** Opens a session for the person or account whose credentials are in the body. */
  open: (request: FastifyRequest, body: Record<string, unknown>) => Promise<{ viewer: Viewer; opened: NewSession }>
  close: (request: FastifyRequest, viewer: Viewer, session: string) => Promise<void>
  /** the signed-in person or account, as shown on the pages; null if not signed in */
  describe: (request: FastifyRequest, viewer: Viewer | null) => object | Promise<object>
}

/**
 * The caller by the cookie of these pages; null for a request without it. Other sites cannot make a browser send such a request: the
 * cookie is same-site, the header requires a script of our own origin, and `Origin` names it.
 */
export function sessionCaller({ app, sessions, publicUrl }: SessionPages): (request: FastifyRequest) => SessionCaller | null {
  const sessionOf = cookieReader(app)
  return (request) => {
    if (request.headers.authorization !== undefined) return null
    const secret = sessionOf(request)
    if (secret === null) return null
    refuseOtherPages(request, app, publicUrl)
    return { secret, viewer: findSession(sessions, secret, request, publicUrl) }
  }
}

/**
 * The caller by the cookie alone, for pictures, which cannot send the header: they change nothing, and the cookie is same-site.
 * @throws UNAUTHENTICATED without a valid session
 */
export function pictureViewer({ app, sessions, publicUrl }: SessionPages): (request: FastifyRequest) => Promise<Viewer> {
  const sessionOf = cookieReader(app)
  return async (request) => {
    const secret = sessionOf(request)
    if (secret === null) throw unauthenticated(reason('own_pages_only'))
    return findSession(sessions, secret, request, publicUrl)
  }
}

/** Registers sign-in, sign-out and the query for the signed-in caller. */
export function addSessionRoutes(app: FastifyInstance, signIn: SignIn): void {
  const { app: name, sessions, publicUrl, open, close, describe } = signIn
  const path = `/${name}/session`
  const hide = { schema: { hide: true } as object }
  const sessionOf = cookieReader(name)
  /** The signed-in caller; null without a valid session. */
  const current = async (request: FastifyRequest): Promise<{ session: string; viewer: Viewer } | null> => {
    const session = sessionOf(request)
    if (session === null) return null
    try {
      return { session, viewer: await findSession(sessions, session, request, publicUrl) }
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'UNAUTHENTICATED') return null
      throw error
    }
  }
  const setCookie = (request: FastifyRequest, reply: FastifyReply, value: string, expires: Date) =>
    reply.header('set-cookie', sessionCookie(signIn, request, { session: value, expiresAt: expires }))
  app.get(path, hide, async (request, reply) => sendData(reply, await describe(request, (await current(request))?.viewer ?? null)))
  app.post(path, hide, async (request, reply) => {
    refuseOtherPages(request, name, publicUrl)
    const { viewer, opened } = await open(request, (request.body ?? {}) as Record<string, unknown>)
    const { session, expiresAt } = opened
    setCookie(request, reply, session, expiresAt)
    return sendData(reply, { ...(await describe(request, viewer)), expires_at: expiresAt.toISOString() })
  })
  app.delete(path, hide, async (request, reply) => {
    refuseOtherPages(request, name, publicUrl)
    const signedIn = await current(request)
    if (signedIn) await close(request, signedIn.viewer, signedIn.session)
    setCookie(request, reply, '', new Date(0))
    return sendData(reply, await describe(request, null))
  })
  registerOtherMethods(app, path, ['GET', 'POST', 'DELETE'])
}

/** The value of `Set-Cookie` for a session. */
export function sessionCookie({ app, publicUrl }: Pick<SessionPages, 'app' | 'publicUrl'>, request: FastifyRequest, opened: NewSession): string {
  const attributes = `Path=/; HttpOnly; SameSite=Strict; Expires=${opened.expiresAt.toUTCString()}`
  return `mintmark_${app}=${opened.session}; ${attributes}${secureAttribute(publicUrl, request)}`
}

/** Over https, browsers send the cookie over https only. */
export function secureAttribute(publicUrl: string | null, { protocol }: FastifyRequest): string {
  return protocol === 'https' || publicUrl?.startsWith('https:') ? '; Secure' : ''
}

/** The credential in a field of a body. @throws VALIDATION_ERROR with the rule `must` */
export function credentialIn(body: Record<string, unknown>, field: string, must: 'operator_token' | 'api_key'): string {
  const credential = body[field]
  if (typeof credential !== 'string' || credential === '') throw invalid(field, must)
  return credential
}

/** The viewer of a session. Browsers send no `Origin` with same-origin reads, to which a key may be restricted. */
function findSession(sessions: Keyring, secret: string, request: FastifyRequest, publicUrl: string | null): Viewer | Promise<Viewer> {
  const { ip, socket } = request
  const origin = request.headers.origin ?? (publicUrl === null ? `${request.protocol}://${request.host}` : new URL(publicUrl).origin)
  return sessions.findKey(secret, { ip, socket, headers: { origin } })
}

function refuseOtherPages(request: FastifyRequest, app: string, publicUrl: string | null): void {
  if (request.headers[`x-${app}`] !== '1') throw unauthenticated(reason('own_pages_only'))
  const { origin } = request.headers
  const reads = request.method === 'GET' || request.method === 'HEAD'
  const isOurs = (address: string) =>
    URL.canParse(address) && (new URL(address).host === request.host || address === (publicUrl && new URL(publicUrl).origin))
  if (!(origin === undefined ? reads : isOurs(origin))) throw new ServiceError('FORBIDDEN', reason('own_pages_only'))
}

/** Reads the cookie `mintmark_<app>`. */
export function cookieReader(app: string): (request: FastifyRequest) => string | null {
  const name = `mintmark_${app}=`
  return ({ headers: { cookie } }) => {
    const found = cookie?.split(';').find((part) => part.trimStart().startsWith(name))
    return found?.trim().slice(name.length) || null
  }
}

/** Sends data to pages; no cache may store it. */
export function sendData(reply: FastifyReply, data: object): FastifyReply {
  reply.header('cache-control', 'no-store').type('application/json; charset=utf-8')
  return reply.send(JSON.stringify(successBody({ data })))
}
