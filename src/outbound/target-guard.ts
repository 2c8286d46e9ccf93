// Which addresses outgoing requests may reach: public ones, and ranges opened by the operator; never the service itself.
import { networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'

export interface GuardOptions {
  /** ranges opened although they are not public */
  allowCidrs: readonly string[]
  allowHttp: boolean
  /** ports of this service's listeners, closed on its own and on all opened addresses */
  ownPorts: () => readonly number[]
  /** port of the database, closed on every address; null for a Unix socket */
  databasePort: number | null
}

export interface TargetGuard {
  /** whether this very address and port may be connected to */
  allows(address: string, port: number): boolean
  /** what is wrong with a URL that an account wants its notifications at, null when nothing is */
  problemOf(url: string): string | null
}

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Range = [Address, number]

export const LONGEST_URL = 500
const SHAPE = /^https?:\/\/[^\s\\/?#\p{Cc}][^\s\\\p{Cc}]*$/iu

// Where clouds answer with credentials; opening a range around them does not open them.
const METADATA = [
  '169.254.0.0/16',
  '100.100.100.200/32',
  '168.63.129.16/32',
  '192.0.0.192/32',
  'fd00:ec2::/32',
  'fd20:ce::254/128',
]
const METADATA_RANGES = METADATA.map((text) => ipaddr.parseCIDR(text) as Range)
const GLOBAL_V6 = ipaddr.parseCIDR('2000::/3') as Range
const TRANSLATED = ipaddr.parseCIDR('64:ff9b::/96') as Range

/** The guard over these settings; it looks up the addresses of this machine at each question. */
export function openGuard({ allowCidrs, allowHttp, ownPorts, databasePort }: GuardOptions): TargetGuard {
  const opened = allowCidrs.map((text) => ipaddr.parseCIDR(text) as Range)
  const allows = (text: string, port: number) => {
    if (!ipaddr.isValid(text)) return false
    const address = reached(ipaddr.parse(text))
    if (port < 1 || port === databasePort || METADATA_RANGES.some((range) => isIn(address, range))) return false
    const global = isGlobal(address)
    if (!global && !opened.some((range) => isIn(address, range))) return false
    return !ownPorts().includes(port) || (global && !isOwn(address))
  }
  const problemOf = (text: string) => {
    if ([...text].length > LONGEST_URL) return `must be at most ${LONGEST_URL} characters`
    const wanted = `must be a URL that begins with https://${allowHttp ? ' or http://' : ''}`
    const url = SHAPE.test(text) && URL.canParse(text) ? new URL(text) : null
    if (!url || (url.protocol === 'http:' && !allowHttp)) return wanted
    if (url.username !== '' || url.password !== '') return 'must be without credentials'
    const { host, port } = targetOf(url)
    if (port === 0) return 'must have a port from 1 to 65535'
    if (ipaddr.isValid(host) && !allows(host, port)) return 'must not be a private or otherwise special address'
    return null
  }
  return { allows, problemOf }
}

/** Host (an IPv6 literal without brackets) and port that a URL leads to. */
export function targetOf(url: URL): { host: string; port: number } {
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)
  return { host: url.hostname.replace(/^\[(.*)\]$/, '$1'), port }
}

/** The address that packets end up at: IPv4 behind its mapped (::ffff:) and translated (64:ff9b::) forms. */
function reached(address: Address): Address {
  if (address.kind() === 'ipv4') return address
  const v6 = address as ipaddr.IPv6
  if (v6.isIPv4MappedAddress()) return v6.toIPv4Address()
  return isIn(v6, TRANSLATED) ? ipaddr.fromByteArray(v6.toByteArray().slice(12)) : v6
}

function isGlobal(address: Address): boolean {
  return address.range() === 'unicast' && (address.kind() === 'ipv4' || isIn(address, GLOBAL_V6))
}

function isIn(address: Address, [network, bits]: Range): boolean {
  return address.kind() === network.kind() && (address as ipaddr.IPv4).match(network as ipaddr.IPv4, bits)
}

function isOwn(address: Address): boolean {
  const text = address.toString()
  return Object.values(networkInterfaces()).some((entries) =>
    entries?.some((entry) => reached(ipaddr.parse(entry.address)).toString() === text),
  )
}
