// The address of a database as libpq writes it, with one or several servers: postgresql://user@host1:5432,host2:5432/name.

/** What a server must be to be connected to; `any`: whichever answers. */
const WANTED = ['any', 'read-write', 'standby'] as const
export type Wanted = (typeof WANTED)[number]

export interface Server {
  host: string
  port: number
}

export interface DatabaseAddress {
  /** more than one, or one that is asked what it is; empty: `url` says all */
  servers: readonly Server[]
  wanted: Wanted
  /** for one connection, to the first server */
  url: string
}

const DEFAULT_PORT = 5432
const FORM = 'a URL that begins with postgresql://, with one or several hosts'

/**
 * Reads `postgresql://…`. Not parsed as a URL throughout: a Unix socket has no host (`postgresql://user@/name?host=/run/postgresql`).
 * With several servers, and no `target_session_attrs`, the one that takes writes is wanted.
 * @throws Error that says what is allowed
 */
export function readDatabaseAddress(text: string): DatabaseAddress {
  const parts = /^(postgres(?:ql)?:\/\/)(?:([^\s@/]*)@)?([^\s@/?]*)((?:\/[^\s?]*)?)(?:\?(\S*))?$/.exec(text)
  if (!parts) throw new Error(FORM)
  const [, scheme = '', user, authority = '', path = '', query = ''] = parts
  const params = new URLSearchParams(query)
  const asked = params.get('target_session_attrs')
  if (asked !== null && !isWanted(asked)) throw new Error(`a URL whose target_session_attrs is one of ${WANTED.join(', ')}`)
  params.delete('target_session_attrs')
  const hosts = authority.split(',')
  const wanted = asked ?? (hosts.length > 1 ? 'read-write' : 'any')
  if (hosts.length === 1 && asked === null) return { servers: [], wanted, url: text }
  const servers = hosts.map(readServer)
  const rest = params.size > 0 ? `?${params.toString()}` : ''
  return { servers, wanted, url: `${scheme}${user === undefined ? '' : `${user}@`}${hosts[0]}${path}${rest}` }
}

function isWanted(text: string): text is Wanted {
  return (WANTED as readonly string[]).includes(text)
}

function readServer(text: string): Server {
  const parts = /^(?:\[([0-9A-Fa-f:.]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(text)
  const port = Number(parts?.[3] ?? DEFAULT_PORT)
  if (!parts || port < 1 || port > 65_535) throw new Error(`${FORM}, each as host:port`)
  return { host: (parts[1] ?? parts[2])!, port }
}
