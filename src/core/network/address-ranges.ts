// Ranges of network addresses, as in settings and API keys, and whether an address is in one.
import ipaddr from 'ipaddr.js'

export type Address = ipaddr.IPv4 | ipaddr.IPv6
export type AddressRange = readonly [network: Address, bits: number]

const MAPPED_BITS = 96

/** Parses an address, or a network in CIDR notation; null if the text is neither. */
export function addressRange(text: string): AddressRange | null {
  const [address = '', bits, ...more] = text.split('/')
  // Short forms of IPv4 (10.1) are ambiguous, and IPv6 zones (fe80::1%eth0) belong to one machine.
  if (more.length > 0 || address.includes('%') || !(ipaddr.IPv4.isValidFourPartDecimal(address) || ipaddr.IPv6.isValid(address))) return null
  const network = ipaddr.parse(address)
  const longest = network.kind() === 'ipv4' ? 32 : 128
  if (bits !== undefined && (!/^\d{1,3}$/.test(bits) || Number(bits) > longest)) return null
  const length = bits === undefined ? longest : Number(bits)
  if (network instanceof ipaddr.IPv6 && network.isIPv4MappedAddress() && length >= MAPPED_BITS) return [network.toIPv4Address(), length - MAPPED_BITS]
  return [network, length]
}

/** Whether an address is in a range. An IPv4 address is never in an IPv6 range. */
export function isInRange(address: Address, [network, bits]: AddressRange): boolean {
  return address.kind() === network.kind() && (address as ipaddr.IPv4).match(network as ipaddr.IPv4, bits)
}
