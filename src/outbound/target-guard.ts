// Restricts the addresses of outgoing requests: public ones and ranges opened by the operator, but never the service itself.
import { networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'
import { type Address, type AddressRange, isInRange } from '#core/network/address-ranges.ts'
import { type Reason, reason } from '#core/problems.ts'

export interface GuardOptions {
  /** ranges that are allowed although they are not public */
  allowCidrs: readonly string[]
  allowHttp: boolean
  /** ports of this service's listeners, blocked on its own and all opened addresses */
  ownPorts: () => readonly number[]
  /** ports of the database, blocked on every address */
  databasePorts: readonly number[]
}

export interface TargetGuard {
  /** whether connections to this address and port are allowed */
  allows(address: string, port: number): boolean
  /** the error of a URL for an account's notifications; null if it is valid */
  problemOf(url: string): Reason | null
}

export const MAX_URL_LENGTH = 500
const SHAPE = /^https?:\/\/[^\s\\/?#\p{Cc}][^\s\\\p{Cc}]*$/iu

// Addresses of cloud metadata services, which return credentials; blocked even within an opened range.
const METADATA = ['169.254.0.0/16', '100.100.100.200/32', '168.63.129.16/32', '192.0.0.192/32', 'fd00:ec2::/32', 'fd20:ce::254/128']
const METADATA_RANGES = METADATA.map((text) => ipaddr.parseCIDR(text) as AddressRange)
const GLOBAL_V6 = ipaddr.parseCIDR('2000::/3') as AddressRange
const TRANSLATED = ipaddr.parseCIDR('64:ff9b::/96') as AddressRange

/** Opens a guard with these settings; it reads the addresses of this machine on every check. */
export function openGuard({ allowCidrs, allowHttp, ownPorts, databasePorts }: GuardOptions): TargetGuard {
  const opened = allowCidrs.map((text) => ipaddr.parseCIDR(text) as AddressRange)
  const allows = (text: string, port: number) => {
    if (!ipaddr.isValid(text)) return false
    const address = reached(ipaddr.parse(text))
    if (port < 1 || databasePorts.includes(port) || METADATA_RANGES.some((range) => isInRange(address, range))) return false
    const global = isGlobal(address)
    if (!global && !opened.some((range) => isInRange(address, range))) return false
    return !ownPorts().includes(port) || (global && !isOwn(address))
  }
  const schemes = allowHttp ? ['https://', 'http://'] : ['https://']
  const problemOf = (text: string) => {
    if ([...text].length > MAX_URL_LENGTH) return reason('text', { max: MAX_URL_LENGTH })
    const url = SHAPE.test(text) && URL.canParse(text) ? new URL(text) : null
    if (!url || (url.protocol === 'http:' && !allowHttp)) return reason('url', { values: schemes })
    if (url.username !== '' || url.password !== '') return reason('url_credentials')
    const { host, port } = targetOf(url)
    if (port === 0) return reason('url_port')
    if (ipaddr.isValid(host) && !allows(host, port)) return reason('url_private')
    return null
  }
  return { allows, problemOf }
}

/** Host (IPv6 without brackets) and port of a URL. */
export function targetOf(url: URL): { host: string; port: number } {
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)
  return { host: url.hostname.replace(/^\[(.*)\]$/, '$1'), port }
}

/** The address that packets reach: the IPv4 address of mapped (::ffff:) and translated (64:ff9b::) forms. */
function reached(address: Address): Address {
  if (address.kind() === 'ipv4') return address
  const v6 = address as ipaddr.IPv6
  if (v6.isIPv4MappedAddress()) return v6.toIPv4Address()
  return isInRange(v6, TRANSLATED) ? ipaddr.fromByteArray(v6.toByteArray().slice(12)) : v6
}

function isGlobal(address: Address): boolean {
  return address.range() === 'unicast' && (address.kind() === 'ipv4' || isInRange(address, GLOBAL_V6))
}

function isOwn(address: Address): boolean {
  const text = address.toString()
  return Object.values(networkInterfaces()).some((entries) => entries?.some((entry) => reached(ipaddr.parse(entry.address)).toString() === text))
}
