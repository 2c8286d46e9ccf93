// Resolves names for outgoing requests without using the shared thread pool.
import { Resolver } from 'node:dns/promises'

/** All addresses of a name; empty if it does not exist. */
export type Resolve = (host: string) => Promise<string[]>

/**
 * Uses the system's name servers, or the given ones. `dns.lookup` would occupy one of four threads for as long as an attacker's
 * slow name server takes.
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
