// The settings of the OpenID Connect provider with which operators sign in.
import { ROLES, type Role } from '../roles.ts'
import { isLoopback } from './loopback.ts'

export interface IdentityProviderSettings {
  /** issuer identifier, exactly as its discovery document states it */
  issuer: string
  clientId: string
  /** null for a public client */
  clientSecret: string | null
  /** space-separated, with `openid` */
  scopes: string
  /** the claim whose values are mapped to roles */
  roleClaim: string
  /** roles by value of the claim */
  roles: ReadonlyMap<string, readonly Role[]>
  /** address of the operator's listener as browsers reach it, without a trailing slash */
  operatorUrl: string
}

interface Setting<T> {
  about: string
  fallback: T
  read: (text: string) => T
}

function setting<T>(about: string, fallback: T, read: (text: string) => T): Setting<T> {
  return { about, fallback, read }
}

const SCOPES = /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/

/** https, because whoever can read or change its responses signs in as an owner; http only on this machine. */
function issuer(text: string): string {
  const { protocol, hostname, search, hash, username } = URL.canParse(text) ? new URL(text) : new URL('none:')
  const isSafe = protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))
  if (!isSafe || search !== '' || hash !== '' || username !== '')
    throw new Error('an https URL without a query, such as https://login.example/realms/shop')
  return text
}

/** An origin: paths of the console are appended to it. */
function address(text: string): string {
  const { protocol, origin, href } = URL.canParse(text) ? new URL(text) : new URL('none:')
  if (!/^https?:$/.test(protocol) || href !== `${origin}/`) throw new Error('an origin such as https://console.example')
  return origin
}

function scopes(text: string): string {
  if (!SCOPES.test(text) || !text.split(' ').includes('openid'))
    throw new Error('scopes separated by spaces, with openid, such as openid profile groups')
  return text
}

function rolesByValue(text: string): ReadonlyMap<string, readonly Role[]> {
  const roles = new Map<string, Role[]>()
  for (const part of text.split(',')) {
    const at = part.lastIndexOf('=')
    const [value, role] = [part.slice(0, at).trim(), part.slice(at + 1).trim()]
    if (at < 0 || value === '' || !isRole(role)) {
      throw new Error(`pairs of a value of the claim and one of ${ROLES.join(', ')}, such as card-admins=owner,card-market=market`)
    }
    roles.set(value, [...new Set([...(roles.get(value) ?? []), role])])
  }
  return roles
}

function isRole(text: string): text is Role {
  return (ROLES as readonly string[]).includes(text)
}

const text = (value: string): string => value

/** Part of the list of all settings. */
export const IDENTITY_PROVIDER_SETTINGS = {
  OPERATOR_URL: setting("URL at which browsers reach the operator's listener", null as string | null, address),
  OIDC_ISSUER: setting('OpenID Connect issuer with which operators sign in', null as string | null, issuer),
  OIDC_CLIENT_ID: setting('client id of the console at OIDC_ISSUER', '', text),
  OIDC_CLIENT_SECRET: setting('client secret of the console at OIDC_ISSUER; unset: a public client', null as string | null, text),
  OIDC_SCOPES: setting('scopes that are requested from OIDC_ISSUER', 'openid profile email', scopes),
  OIDC_ROLE_CLAIM: setting('claim of OIDC_ISSUER whose values OIDC_ROLES maps to roles', 'groups', text),
  OIDC_ROLES: setting('role for each value of OIDC_ROLE_CLAIM', null as ReadonlyMap<string, readonly Role[]> | null, rolesByValue),
} as const

type Name = keyof typeof IDENTITY_PROVIDER_SETTINGS

/**
 * The provider of the settings; null if OIDC_ISSUER is not set.
 * @throws Error that names the settings that are missing
 */
export function identityProvider(
  read: <N extends Name>(name: N) => (typeof IDENTITY_PROVIDER_SETTINGS)[N]['fallback'],
): IdentityProviderSettings | null {
  const issuerUrl = read('OIDC_ISSUER')
  const [clientId, roles, operatorUrl] = [read('OIDC_CLIENT_ID'), read('OIDC_ROLES'), read('OPERATOR_URL')]
  if (issuerUrl === null) {
    if (clientId === '' && roles === null) return null
    throw new Error('OIDC_ISSUER must be set: OIDC_CLIENT_ID and OIDC_ROLES are settings of an issuer')
  }
  if (clientId === '' || roles === null || operatorUrl === null) {
    const missing = [clientId === '' && 'OIDC_CLIENT_ID', roles === null && 'OIDC_ROLES', operatorUrl === null && 'OPERATOR_URL']
    throw new Error(`${missing.filter((name) => name !== false).join(' and ')} must be set: sign-in with OIDC_ISSUER needs it`)
  }
  const clientSecret = read('OIDC_CLIENT_SECRET')
  return Object.freeze({
    issuer: issuerUrl,
    clientId,
    clientSecret,
    scopes: read('OIDC_SCOPES'),
    roleClaim: read('OIDC_ROLE_CLAIM'),
    roles,
    operatorUrl,
  })
}
