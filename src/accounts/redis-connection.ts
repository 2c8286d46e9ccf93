// Opens connections to the Redis of REDIS_URL: to a single server, or to the master that Sentinels name.
import { isIP } from 'node:net'
import { Redis, type RedisOptions } from 'ioredis'
import { readSentinelAddress, type SentinelAddress } from '#core/redis-address.ts'

/** @param url a value of `REDIS_URL` */
export function connectRedis(url: string, options: RedisOptions): Redis {
  const sentinel = readSentinelAddress(url)
  return sentinel ? new Redis({ ...sentinelOptions(sentinel), ...options }) : new Redis(url, { ...serverName(url), ...options })
}

/** Certificates are verified with the CAs of Node.js, for the host that is connected to. */
function sentinelOptions({ isTls, sentinels, ...address }: SentinelAddress): RedisOptions {
  return { ...address, sentinels: [...sentinels], ...(isTls && { enableTLSForSentinelMode: true, sentinelTLS: {}, tls: {} }) }
}

/** Sends the host name (SNI), which TLS proxies use to choose a certificate; the library does not send it itself. */
function serverName(url: string): RedisOptions {
  const { protocol, hostname } = new URL(url)
  return protocol === 'rediss:' && !isIP(hostname.replace(/^\[|\]$/g, '')) ? { tls: { servername: hostname } } : {}
}
