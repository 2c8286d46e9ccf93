// Database addresses as libpq writes them, with one or several servers: postgresql://user@host1:5432,host2:5432/name.
import { accessSync, constants, statSync } from 'node:fs'
import { isLoopback } from './loopback.ts'
import { readServer, type Server } from './server-address.ts'

/** The role that a server must have; `any` accepts any server that responds. */
const REQUIRED_ROLES = ['any', 'read-write', 'standby'] as const
export type RequiredRole = (typeof REQUIRED_ROLES)[number]

export interface DatabaseAddress {
  /** several servers, or one whose role is checked; empty: `url` is enough */
  servers: readonly Server[]
  role: RequiredRole
  /** connection string of the first server; with `sslmode=verify-full` unless the address says otherwise or stays on this machine */
  url: string
  /** what the address gives up on a connection to another machine */
  waived: 'encryption' | 'verification' | null
}

const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify']
/** Names of files, which must be readable. */
const FILES = ['sslrootcert', 'sslcert', 'sslkey']
/** Others would be ignored silently, such as a misspelt sslmode. */
const PARAMETERS = [
  'application_name',
  'host',
  'options',
  'password',
  'port',
  'ssl',
  'sslmode',
  'sslnegotiation',
  ...FILES,
  'target_session_attrs',
  'uselibpqcompat',
  'user',
].sort()

const DEFAULT_PORT = 5432
const FORM = 'a URL that begins with postgresql://, with one or several hosts'

/**
 * Parses `postgresql://…`. The URL class does not accept all of them: a Unix socket has no host (`postgresql://user@/name?host=/run/postgresql`).
 * With several servers and no `target_session_attrs`, the server that accepts writes is used. Connections to other machines are encrypted and
 * the server's certificate is verified, unless `sslmode` says otherwise.
 * @throws Error that says what is allowed
 */
export function readDatabaseAddress(text: string): DatabaseAddress {
  const parts = /^(postgres(?:ql)?:\/\/)(?:([^\s@/]*)@)?([^\s@/?]*)((?:\/[^\s?]*)?)(?:\?(\S*))?$/.exec(text)
  if (!parts) throw new Error(FORM)
  const [, scheme = '', user, authority = '', path = '', query = ''] = parts
  const params = new URLSearchParams(query)
  checkParameters(params)
  const roleParameter = params.get('target_session_attrs')
  if (roleParameter !== null && !isRole(roleParameter)) throw new Error(`a URL whose target_session_attrs is one of ${REQUIRED_ROLES.join(', ')}`)
  params.delete('target_session_attrs')
  const hosts = authority.split(',')
  const role = roleParameter ?? (hosts.length > 1 ? 'read-write' : 'any')
  const local = hosts.every((host) => isLocal(params.get('host') ?? host.replace(/:\d+$/, '')))
  const choosesTls = params.has('sslmode') || params.has('ssl')
  const waived = local ? null : waivedBy(params)
  if (hosts.length === 1 && roleParameter === null) {
    const url = local || choosesTls ? text : `${text}${query === '' ? (text.endsWith('?') ? '' : '?') : '&'}sslmode=verify-full`
    return { servers: [], role, url, waived }
  }
  if (!local && !choosesTls) params.set('sslmode', 'verify-full')
  const servers = hosts.map((host) => readServer(host, DEFAULT_PORT))
  if (!servers.every((server) => server !== null)) throw new Error(`${FORM}, each as host:port`)
  const rest = params.size > 0 ? `?${params.toString()}` : ''
  return { servers, role, url: `${scheme}${user === undefined ? '' : `${user}@`}${hosts[0]}${path}${rest}`, waived }
}

/** A Unix socket or a loopback address: nobody can be between the two ends. */
function isLocal(host: string): boolean {
  return host === '' || host.startsWith('/') || /^%2f/i.test(host) || isLoopback(host)
}

/** The driver verifies with every sslmode but these; with `uselibpqcompat`, as libpq does. */
function waivedBy(params: URLSearchParams): DatabaseAddress['waived'] {
  const mode = params.get('sslmode')
  if (mode === 'disable' || (mode === null && /^(0|false)$/.test(params.get('ssl') ?? ''))) return 'encryption'
  const asLibpq = params.get('uselibpqcompat') === 'true' && (mode === 'prefer' || (mode === 'require' && !params.has('sslrootcert')))
  return mode === 'no-verify' || asLibpq ? 'verification' : null
}

/** @throws Error that says what is allowed */
function checkParameters(params: URLSearchParams): void {
  for (const [name, value] of params) {
    if (!PARAMETERS.includes(name)) throw new Error(`a URL without the parameter ${name}; allowed: ${PARAMETERS.join(', ')}`)
    if (name === 'sslmode' && !SSL_MODES.includes(value)) throw new Error(`a URL whose sslmode is one of ${SSL_MODES.join(', ')}, not ${value}`)
    if (FILES.includes(name) && !isReadable(value)) throw new Error(`a URL whose ${name} is a readable file, not ${value}`)
  }
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

function isRole(text: string): text is RequiredRole {
  return (REQUIRED_ROLES as readonly string[]).includes(text)
}
