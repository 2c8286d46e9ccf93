// Checks the Redis of REDIS_URL as nodes use it: finds the master, and takes a lease that belongs to no account.
import { Redis, type RedisOptions } from 'ioredis'
import type { Params } from '#core/problems.ts'
import { readSentinelAddress, type SentinelAddress } from '#core/redis-address.ts'
import type { Server } from '#core/server-address.ts'
import { connectRedis } from './redis-connection.ts'
import { takeLease } from './redis-leases.ts'

interface RedisReport {
  problem: 'unreachable' | 'refused' | 'no_master' | 'no_leases' | null
  params: Params
}

const ONCE: RedisOptions = { retryStrategy: () => null, connectTimeout: 1_000, commandTimeout: 2_000, disconnectTimeout: 1_000 }
const NO_ACCOUNT = { accountId: 0, limit: 0, unused: 0, node: 0 }

/** @param url a value of `REDIS_URL` */
export async function checkRedis(url: string): Promise<RedisReport> {
  const sentinel = readSentinelAddress(url)
  if (!sentinel) return checkServer(connectRedis(url, ONCE), {})
  const master = await findMaster(sentinel)
  if ('problem' in master) return master
  const { isTls, name, username, password, db } = sentinel
  return checkServer(new Redis({ ...master, username, password, db, ...(isTls && { tls: {} }), ...ONCE }), { name })
}

/** The master reported by the first Sentinel that responds. */
async function findMaster({ isTls, sentinels, name, sentinelUsername, sentinelPassword }: SentinelAddress): Promise<Server | RedisReport> {
  const options = { username: sentinelUsername, password: sentinelPassword, ...(isTls && { tls: {} }), enableReadyCheck: false, ...ONCE }
  const answers = await Promise.all(
    sentinels.map(async (server): Promise<Server | RedisReport> => {
      try {
        const redis = new Redis({ ...server, ...options })
        const master = (await ask(redis, () => redis.call('sentinel', 'get-master-addr-by-name', name))) as [string, string] | null
        return master ? { host: master[0], port: Number(master[1]) } : { problem: 'no_master', params: { name } }
      } catch (error) {
        const { message } = error as Error
        return { problem: isRefusal(message) ? 'refused' : 'unreachable', params: { sentinel: textOf(server), message } }
      }
    }),
  )
  const master = answers.find((answer) => !('problem' in answer))
  return master ?? answers.find((answer) => 'problem' in answer && answer.problem !== 'unreachable') ?? answers[0]!
}

async function checkServer(redis: Redis, about: Params): Promise<RedisReport> {
  const { host = '', port = 0 } = redis.options
  const params = { ...about, address: textOf({ host, port }) }
  try {
    const milliseconds = await ask(redis, async () => {
      await redis.ping()
      const startedMs = performance.now()
      await redis.ping()
      const ms = performance.now() - startedMs
      await takeLease(redis, NO_ACCOUNT)
      return Math.round(ms * 10) / 10
    })
    return { problem: null, params: { ...params, milliseconds } }
  } catch (error) {
    const { name, message } = error as Error
    const problem = isRefusal(message) ? 'refused' : name === 'ReplyError' ? 'no_leases' : 'unreachable'
    // Redis appends where in the script the error occurred.
    return { problem, params: { ...params, message: message.split(' script: ')[0]! } }
  }
}

/** Runs the commands, then disconnects. @throws the first error of the connection, which is more specific than those of the commands */
async function ask<T>(redis: Redis, commands: () => Promise<T>): Promise<T> {
  const errors: Error[] = []
  redis.on('error', (error: Error) => void errors.push(error))
  try {
    return await commands()
  } catch (error) {
    throw errors[0] ?? error
  } finally {
    redis.disconnect()
  }
}

function isRefusal(message: string): boolean {
  return /^(WRONGPASS|NOAUTH|NOPERM|ERR AUTH)\b/.test(message)
}

function textOf({ host, port }: Server): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}
