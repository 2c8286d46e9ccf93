// Addresses of a Redis behind Sentinels: redis+sentinel://user:password@host1:26379,host2:26379/master-name/0, or rediss+sentinel:// for TLS.
import { readServer, type Server } from './server-address.ts'

/** The names of the fields are those of the client library, except `isTls`. */
export interface SentinelAddress {
  /** whether the Sentinels and Redis are reached over TLS */
  isTls: boolean
  sentinels: readonly Server[]
  /** name of the master in the Sentinels */
  name: string
  /** of Redis itself; absent for none */
  username?: string
  password?: string
  sentinelUsername?: string
  sentinelPassword?: string
  db: number
}

const SENTINEL_PORT = 26_379
const FORM = 'a URL such as redis+sentinel://user:password@host1:26379,host2:26379/master-name/0 (rediss+sentinel:// for TLS)'

/**
 * Parses `redis+sentinel://…` and `rediss+sentinel://…`; null for any other URL. User and password are those of Redis; those of the
 * Sentinels are the parameters `sentinel_username` and `sentinel_password`. The URL class rejects several hosts.
 * @throws Error that says what is allowed
 */
export function readSentinelAddress(text: string): SentinelAddress | null {
  const [scheme] = /^rediss?\+sentinel:\/\//.exec(text) ?? []
  if (scheme === undefined) return null
  const parts = /^(?:([^\s:@/]*)(?::([^\s@/]*))?@)?([^\s@/?#]*)((?:\/[^\s?#]*)?)(?:\?([^\s#]*))?$/.exec(text.slice(scheme.length))
  if (!parts) throw new Error(FORM)
  const [, user, word, hosts = '', path = '', query] = parts
  const sentinels = hosts.split(',').map((host) => readServer(host, SENTINEL_PORT))
  if (!sentinels.every((server) => server !== null)) throw new Error(`${FORM}, with ports from 1 to 65535`)
  const [, name, db = '0'] = /^\/([\w.-]+)(?:\/(\d{1,5})?)?$/.exec(path) ?? []
  if (name === undefined) throw new Error(`${FORM}: the path is the master's name at the Sentinels and, optionally, the number of a database`)
  const { sentinel_username: sentinelUser, sentinel_password: sentinelWord, ...unknown } = Object.fromEntries(new URLSearchParams(query))
  const [first] = Object.keys(unknown)
  if (first !== undefined) throw new Error(`a URL with no parameters other than sentinel_username and sentinel_password; ${first} is not known`)
  return {
    isTls: scheme.startsWith('rediss'),
    sentinels,
    name,
    ...(user && { username: decoded(user) }),
    ...(word && { password: decoded(word) }),
    ...(sentinelUser && { sentinelUsername: sentinelUser }),
    ...(sentinelWord && { sentinelPassword: sentinelWord }),
    db: Number(db),
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new Error(`${FORM}, with % in user and password written as %25`)
  }
}
