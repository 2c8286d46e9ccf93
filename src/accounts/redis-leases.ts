// Takes leases of rate limits from Redis with one script, on a single server or on the master that Sentinels name.
import type { Redis, RedisOptions } from 'ioredis'
import { type LeaseStore, MULTI_NODE_SECONDS, SINGLE_NODE_SHARE, MULTI_NODE_SHARE, WINDOW_SECONDS } from './limit-leases.ts'
import { connectRedis } from './redis-connection.ts'

const RECONNECT_MS = 500
const SILENT_MS = 1_000

const OPTIONS: RedisOptions = {
  // Without a connection a lease fails immediately. It is not repeated on the next connection: no request waits for it by then.
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  retryStrategy: () => RECONNECT_MS,
  // Closes the connection to a server that is frozen or cut off, and queries the Sentinels again.
  socketTimeout: SILENT_MS,
  connectTimeout: SILENT_MS,
  disconnectTimeout: SILENT_MS,
  sentinelCommandTimeout: SILENT_MS,
  // A replaced master is read-only, or has no replicas: its errors also lead to a new connection. The library's `failoverDetector`
  // is not used: it stops reconnecting for good if Sentinel announces the new master during a connection attempt.
  reconnectOnError: () => true,
}

/**
 * The same rule as the statement in database-leases.ts. Times are milliseconds of the server's clock; an end more than a minute ahead
 * was written by a server with another clock and is ignored.
 */
const LEASE = `
local limit, unused, node = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3]
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local row = redis.call('hmget', KEYS[1], 'ends', 'leased', 'node', 'shared')
local ends, leased, shared = tonumber(row[1]) or 0, tonumber(row[2]) or 0, tonumber(row[4]) or 0
if ends > now and ends <= now + ${WINDOW_SECONDS * 1_000} then
  leased = math.max(0, leased - unused)
else
  ends, leased = now + ${WINDOW_SECONDS * 1_000}, 0
end
if row[3] and row[3] ~= node then shared = now end
local share = shared > now - ${MULTI_NODE_SECONDS * 1_000} and ${MULTI_NODE_SHARE} or ${SINGLE_NODE_SHARE}
local granted = math.ceil(math.max(0, limit - leased) / share)
leased = leased + granted
redis.call('hset', KEYS[1], 'ends', ends, 'leased', leased, 'node', node, 'shared', shared)
redis.call('pexpire', KEYS[1], ${MULTI_NODE_SECONDS * 1_000})
return { granted, leased, ends - now }`

/** @param url a value of `REDIS_URL` */
export function redisLeases(url: string): { lease: LeaseStore; close: () => void } {
  const redis = connectRedis(url, OPTIONS)
  // The first failure since the last connection: a lease itself fails only with "not connected". Only the message is kept, because the
  // error contains the failed command, which may be the one with the password.
  let failure: string | null = null
  for (const event of ['error', 'sentinelError']) redis.on(event, ({ message }: Error) => void (failure ??= message))
  redis.on('ready', () => void (failure = null))
  const tried = new Promise<unknown>((resolve) => void redis.once('ready', resolve).once('error', resolve))
  return {
    lease: async (request) => {
      await tried
      try {
        return await takeLease(redis, request)
      } catch (error) {
        throw new Error(failure ?? (error as Error).message)
      }
    },
    close: () => redis.disconnect(),
  }
}

export async function takeLease(redis: Redis, { accountId, limit, unused, node }: Parameters<LeaseStore>[0]): ReturnType<LeaseStore> {
  const answer = await redis.eval(LEASE, 1, `mintmark:lease:${accountId}`, limit, unused, node)
  const [granted, leased, msLeft] = answer as [number, number, number]
  return { granted, leased, msLeft }
}
