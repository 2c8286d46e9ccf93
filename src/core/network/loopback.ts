// Returns whether an address is a loopback address.
import ipaddr from 'ipaddr.js'

/** For a host name or an IP address, as in a URL (IPv6 in brackets) or without; names other than localhost are false. */
export function isLoopback(host: string): boolean {
  const address = host.replace(/^\[(.*)\]$/, '$1')
  if (/^(.+\.)?localhost$/i.test(address)) return true
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback'
}
