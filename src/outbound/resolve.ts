// Names to addresses for outgoing requests, without the threads that the rest of the program needs.
import { Resolver } from 'node:dns/promises'

/** All addresses of a name; none when it does not exist. */
export type Resolve = (host: string) => Promise<string[]>

/**
 * Asks the system's name servers, or those named. Slow ones hold up nobody: `dns.lookup` would occupy one of four
 * threads for as long as an attacker's server likes.
 */
export function openResolver(servers?: string[]): Resolve {
  const resolver = new Resolver({ timeout: 1_000, tries: 2 })
  if (servers) resolver.setServers(servers)
  return async (host) => {
    const name = host.replace(/\.$/, '').toLowerCase()
    if (name === 'localhost' || name.endsWith('.localhost')) return ['127.0.0.1', '::1']
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  }
}
