// The OpenID Connect provider: where a sign-in is sent, and the verified identity that it returns (authorization code flow with PKCE).
import * as oidc from 'openid-client'
import { machineMs } from '#core/process/time-and-chance.ts'
import { HOUR_MS } from '#core/duration.ts'
import type { IdentityProviderSettings } from '#core/network/identity-provider.ts'
import { ProviderRefusal } from './provider-refusal.ts'

const TIMEOUT_S = 5
/** How far the provider's clock may differ. */
const CLOCK_TOLERANCE_S = 60
/** After a failed discovery, the next sign-ins fail at once for this long. */
const RETRY_MS = 5_000

/** What the browser must bring back. */
export interface SignInSecrets {
  state: string
  nonce: string
  verifier: string
}

export interface Identity {
  issuer: string
  /** never reassigned to another person by the provider */
  subject: string
  name: string
  /** of the role claim */
  values: string[]
}

export class IdentityProvider {
  readonly #settings: IdentityProviderSettings
  readonly #now: () => Date
  #discovery: { server: Promise<oidc.ServerMetadata>; untilMs: number } | null = null

  constructor(settings: IdentityProviderSettings, now: () => Date) {
    this.#settings = settings
    this.#now = now
  }

  /** Registered with the provider, and never taken from a request. */
  get redirectUri(): string {
    return `${this.#settings.operatorUrl}/console/provider/callback`
  }

  /** The provider's page and the secrets of a new sign-in. @throws ProviderRefusal */
  async begin(): Promise<{ url: string; secrets: SignInSecrets }> {
    const config = await this.#configuration()
    const secrets = { state: oidc.randomState(), nonce: oidc.randomNonce(), verifier: oidc.randomPKCECodeVerifier() }
    const url = oidc.buildAuthorizationUrl(config, {
      redirect_uri: this.redirectUri,
      scope: this.#settings.scopes,
      code_challenge: await oidc.calculatePKCECodeChallenge(secrets.verifier),
      code_challenge_method: 'S256',
      state: secrets.state,
      nonce: secrets.nonce,
    })
    return { url: url.href, secrets }
  }

  /**
   * Exchanges the code of a callback for an identity. The id token must be signed by the provider, for this client and this sign-in.
   * @param query of the callback, with its `?`
   * @throws ProviderRefusal
   */
  async complete(query: string, { state, nonce, verifier }: SignInSecrets): Promise<Identity> {
    const config = await this.#configuration()
    try {
      const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true }
      const tokens = await oidc.authorizationCodeGrant(config, new URL(`${this.redirectUri}${query}`), checks)
      const claims = tokens.claims()!
      const { roleClaim } = this.#settings
      let all: Record<string, unknown> = claims
      // Many providers list groups only at the userinfo endpoint.
      if (claimOf(all, roleClaim) === undefined && config.serverMetadata().userinfo_endpoint !== undefined) {
        all = { ...claims, ...(await oidc.fetchUserInfo(config, tokens.access_token, claims.sub)) }
      }
      const names = [all.name, all.preferred_username, all.email, claims.sub]
      const name = names.find((value): value is string => typeof value === 'string' && value.trim() !== '')!
      return { issuer: claims.iss, subject: claims.sub, name, values: textsOf(claimOf(all, roleClaim)) }
    } catch (error) {
      throw refusalOf(error)
    }
  }

  /** With the provider's metadata, which is read again every hour, and its current keys. */
  async #configuration(): Promise<oidc.Configuration> {
    const { clientId, clientSecret } = this.#settings
    const server = await this.#metadata()
    // openid-client reads the clock of the machine.
    const skew = Math.round((this.#now().getTime() - machineMs()) / 1_000)
    const metadata = { [oidc.clockSkew]: skew, [oidc.clockTolerance]: CLOCK_TOLERANCE_S }
    const config = new oidc.Configuration(server, clientId, metadata, authenticationOf(clientSecret, server))
    config.timeout = TIMEOUT_S
    for (const prepare of [oidc.enableNonRepudiationChecks, ...this.#insecure]) prepare(config)
    return config
  }

  async #metadata(): Promise<oidc.ServerMetadata> {
    const nowMs = machineMs()
    if (this.#discovery === null || this.#discovery.untilMs <= nowMs) {
      const discovery = { server: this.#discover(), untilMs: nowMs + HOUR_MS }
      this.#discovery = discovery
      discovery.server.catch(() => (discovery.untilMs = machineMs() + RETRY_MS))
    }
    try {
      return await this.#discovery.server
    } catch (error) {
      throw new ProviderRefusal('unavailable', detailOf(error), { cause: error })
    }
  }

  async #discover(): Promise<oidc.ServerMetadata> {
    const { issuer, clientId } = this.#settings
    const execute = this.#insecure
    const config = await oidc.discovery(new URL(issuer), clientId, undefined, undefined, { execute, timeout: TIMEOUT_S })
    return config.serverMetadata()
  }

  /** Allows http, which the settings accept on this machine only. */
  get #insecure() {
    return this.#settings.issuer.startsWith('http:') ? [oidc.allowInsecureRequests] : []
  }
}

function authenticationOf(clientSecret: string | null, { token_endpoint_auth_methods_supported: methods }: oidc.ServerMetadata): oidc.ClientAuth {
  if (clientSecret === null) return oidc.None()
  // By the specification, a provider that states no methods supports Basic.
  return methods?.includes('client_secret_basic') === false ? oidc.ClientSecretPost(clientSecret) : oidc.ClientSecretBasic(clientSecret)
}

/** The value of a claim, by its name or by a path such as `realm_access.roles`. */
function claimOf(claims: Record<string, unknown>, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name]
  let value: unknown = claims
  for (const part of name.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined
    value = (value as Record<string, unknown>)[part]
  }
  return value
}

function textsOf(value: unknown): string[] {
  return (Array.isArray(value) ? value : [value]).filter((each): each is string => typeof each === 'string')
}

function refusalOf(error: unknown): ProviderRefusal {
  const options = { cause: error }
  if (error instanceof oidc.AuthorizationResponseError) return new ProviderRefusal('cancelled', detailOf(error), options)
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const status = error instanceof oidc.ResponseBodyError ? error.status : causeStatus(error)
  // `fetch` throws a TypeError without a code if the connection fails.
  const isLost = code === 'OAUTH_TIMEOUT' || status >= 500 || (error instanceof TypeError && code === '') || isLostConnection(error)
  return new ProviderRefusal(isLost ? 'unavailable' : 'invalid', detailOf(error), options)
}

function isLostConnection(error: unknown): boolean {
  return error instanceof Error && error.cause instanceof TypeError && error.cause.message === 'fetch failed'
}

function causeStatus(error: unknown): number {
  return error instanceof Error && error.cause instanceof Response ? error.cause.status : 0
}

function detailOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { message, cause } = error
  const reported = error instanceof oidc.AuthorizationResponseError || error instanceof oidc.ResponseBodyError ? error.error : null
  const below = cause instanceof Error ? cause.message : null
  return [...new Set([message, reported, below])].filter((part) => part !== null && part !== '').join(': ')
}
