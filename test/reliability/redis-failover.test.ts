// Failover of a Redis behind Sentinels, in short: no request fails, and both nodes lease from the new master. Needs Debian's redis-server.
import { expect, test } from 'vitest'
import { installed } from '../../reliability/front.ts'
import { redisFailoverRun } from '../../reliability/redis-failover.ts'
import { broken } from '../../reliability/report.ts'

const hasRedis = installed('redis-server', '--version')

/** Longer than all waits of the run, even on a busy machine. */
const LONG_MS = 1_800_000

test.skipIf(!hasRedis)(
  'the Redis master is killed (skipped if redis-server is not installed)',
  async () => {
    expect(broken(await redisFailoverRun({ times: 1, wholeMinutes: false }))).toEqual([])
  },
  LONG_MS,
)
