// Sign-in to the console with the identity provider: the redirect to its page, and the callback that opens a session.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { MINUTE_MS } from '#core/duration.ts'
import { ServiceError } from '#core/errors.ts'
import type { Log } from '#core/context.ts'
import type { IdentityProviderSettings } from '#core/network/identity-provider.ts'
import { reason } from '#core/problems.ts'
import type { Sealing } from '#core/sealing.ts'
import { call, type Viewer } from '#core/verb.ts'
import type { WriteCtx } from '#db/changes/change.ts'
import { registerOtherMethods } from '#http/routes.ts'
import type { FailedAuthentications } from '../limits/failed-authentications.ts'
import { spendOnce } from '../people/attempts.ts'
import { openConsoleSession } from '../sessions/open-console-session.ts'
import { cookieReader, secureAttribute, sessionCookie, type SessionPages } from '../sessions/session-routes.ts'
import { IdentityProvider, type SignInSecrets } from './identity-provider.ts'
import { ProviderRefusal } from './provider-refusal.ts'
import { signInByProvider } from './sign-in-by-provider.ts'

const PATH = '/console/provider'
/** How long a sign-in may take; secrets are used once within 15 minutes. */
const SIGN_IN_MS = 10 * MINUTE_MS
const COOKIE_OWNER = 0

export interface ProviderParts {
  settings: IdentityProviderSettings
  failures: FailedAuthentications
  /** encrypts the cookie with the secrets of a sign-in, so that any node can complete it */
  sealing: Sealing
  ctx: (request: FastifyRequest, viewer: Viewer) => WriteCtx
  log: Log
  now: () => Date
}

/** Who writes before the person is known. */
const PROVIDER: Viewer = Object.freeze({ kind: 'operator', name: 'provider' })

/** Registers both addresses. Every response is a redirect to a fixed page: nothing in a request chooses it. */
export function addProviderSignIn(app: FastifyInstance, pages: SessionPages, parts: ProviderParts): void {
  const { settings, failures, sealing, log, now } = parts
  const ctx = (request: FastifyRequest, viewer: Viewer): WriteCtx => ({ ...parts.ctx(request, viewer), idempotency: null })
  const provider = new IdentityProvider(settings, now)
  const cookieOf = cookieReader('provider')
  const hide = { schema: { hide: true } as object }
  // Lax: the callback is a navigation that the provider's page begins.
  const cookie = (request: FastifyRequest, value: string, seconds: number) =>
    `mintmark_provider=${value}; Path=${PATH}; HttpOnly; SameSite=Lax; Max-Age=${seconds}${secureAttribute(pages.publicUrl, request)}`
  const sendTo = (reply: FastifyReply, url: string, cookies: string[]) =>
    reply.headers({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer', 'set-cookie': cookies }).redirect(url, 303)
  const refuse = (request: FastifyRequest, reply: FastifyReply, error: unknown) => {
    const refusal = refusalOf(error)
    log.warn({ why: refusal.why, detail: refusal.message, request: request.id }, 'Sign-in with the identity provider failed')
    return sendTo(reply, `/console?refused=${refusal.why}`, [cookie(request, '', 0)])
  }

  app.get(PATH, hide, async (request, reply) => {
    try {
      const { url, secrets } = await provider.begin()
      const begun = { ...secrets, endsMs: now().getTime() + SIGN_IN_MS }
      const sealed = sealing.seal(JSON.stringify(begun), COOKIE_OWNER).toString('base64url')
      return sendTo(reply, url, [cookie(request, sealed, SIGN_IN_MS / 1_000)])
    } catch (error) {
      return refuse(request, reply, error)
    }
  })

  app.get(`${PATH}/callback`, hide, async (request, reply) => {
    try {
      failures.check(request)
      const writing = ctx(request, PROVIDER)
      const identity = await identify(request, writing).catch((error: unknown) => {
        const guessed = error instanceof ProviderRefusal && (error.why === 'invalid' || error.why === 'expired')
        throw guessed ? counted(request, error) : error
      })
      const viewer = await signInByProvider(writing, settings, identity)
      const seen = { address: request.ip, browser: request.headers['user-agent'] ?? '' }
      const opened = await call(openConsoleSession, ctx(request, viewer), { ...seen, by_provider: true })
      return sendTo(reply, '/console', [sessionCookie(pages, request, opened), cookie(request, '', 0)])
    } catch (error) {
      return refuse(request, reply, error)
    }
  })
  for (const path of [PATH, `${PATH}/callback`]) registerOtherMethods(app, path, ['GET'])

  /** The verified identity of a callback; each sign-in is completed at most once. */
  const identify = async (request: FastifyRequest, { db }: WriteCtx) => {
    const { search, searchParams } = new URL(request.url, provider.redirectUri)
    const begun = unseal(cookieOf(request))
    if (begun.endsMs < now().getTime()) throw new ProviderRefusal('expired', 'begun more than ten minutes ago')
    if (searchParams.get('state') !== begun.state) throw new ProviderRefusal('expired', 'begun in another browser or tab')
    if (!(await spendOnce(db, begun.state, now()))) throw new ProviderRefusal('expired', 'completed before')
    return provider.complete(search, begun)
  }

  const unseal = (value: string | null): SignInSecrets & { endsMs: number } => {
    try {
      return JSON.parse(sealing.unseal(Buffer.from(value ?? '', 'base64url'), COOKIE_OWNER)) as SignInSecrets & { endsMs: number }
    } catch (error) {
      throw new ProviderRefusal('expired', 'not begun in this browser', { cause: error })
    }
  }

  /** Counted like a wrong password of this address. */
  const counted = (request: FastifyRequest, error: ProviderRefusal): Error => {
    const refusal = failures.refuse(request, reason('sign_in'))
    return refusal.code === 'RATE_LIMITED' ? refusal : error
  }
}

function refusalOf(error: unknown): ProviderRefusal {
  if (error instanceof ProviderRefusal) return error
  if (error instanceof ServiceError && error.code === 'RATE_LIMITED') return new ProviderRefusal('too_many', error.message)
  throw error
}
