// `node reliability/clock.ts`: runs two nodes on one database, one of them with its clock 10 minutes fast, then 10 minutes slow.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { installed, openReceiver } from './proxy-and-clients.ts'
import { createPostgres } from './postgres.ts'
import { atMost, conclude, count, figure, type Finding, progress } from './report.ts'
import { ask, OPERATOR_TOKEN, pause, startService, until, workDir } from './service.ts'
import { prepareWrites } from './writes.ts'

const OFFSET_SECONDS = 600
/** Longer than two polls of the queue, shorter than the timeout of a delivery. */
const RECEIVER_DELAY_MS = 1_200
const SALES = 30
const PERIOD_SECONDS = 3
/** Long enough to create the key before it expires. */
const KEY_LIFE_MS = 10_000

export const canShiftClock = installed('faketime', '--version')

/** Tests everything that depends on time: keys, publication periods, leases of notifications and their signatures. */
export async function clockRun(): Promise<Finding[]> {
  return (await Promise.all(['+', '-'].map(runWithOffset))).flat()
}

/** Starts Node with a shifted clock. Not as a child of `faketime`, because signals would reach only that process. */
function onClock(offset: string): string[] {
  const environment = execFileSync('faketime', ['--exclude-monotonic', '-f', offset, 'env'], { encoding: 'utf8' })
  const preload = /^LD_PRELOAD=.*$/m.exec(environment)![0]
  return ['env', preload, `FAKETIME=${offset}`, 'FAKETIME_DONT_FAKE_MONOTONIC=1', process.execPath]
}

async function runWithOffset(sign: string): Promise<Finding[]> {
  const dir = workDir()
  const postgres = await createPostgres(join(dir.path, 'postgres'))
  await postgres.start()
  const receiver = await openReceiver(RECEIVER_DELAY_MS)
  const settings = { DATABASE_URL: postgres.url, PORT: '0', OPERATOR_PORT: '0', WEBHOOK_RETRY_DELAYS: '1s,2s' }
  const correct = await startService(settings)
  const shifted = await startService(settings, { command: onClock(`${sign}${OFFSET_SECONDS}s`) })
  try {
    const target = { publicUrl: () => correct.publicUrl, operatorUrl: () => correct.operatorUrl }
    const writes = await prepareWrites(target)
    const operator = async <T>(path: string, json?: unknown): Promise<T> =>
      (await ask<T>(`${correct.operatorUrl}/operator/v1${path}`, OPERATOR_TOKEN, { json })).body.data
    await ask(`${correct.publicUrl}/api/v1/plus/webhook`, writes.key, {
      method: 'PUT',
      json: { url: `http://127.0.0.1:${receiver.port}/`, on_sale: true, on_expire: true },
    })
    const listing = async () => {
      const { id } = await operator<{ id: number }>('/listings', {
        seller_id: writes.accountId,
        item_id: writes.itemId,
        title: 'Clock',
        price: 100,
        quantity: 1_000,
      })
      await operator(`/listings/${id}/approve`, {})
      return id
    }
    const inMs = (ms: number) => new Date(Date.now() + ms).toISOString()
    const halfway = (OFFSET_SECONDS / 2) * 1_000
    const valid = await operator<{ key: string }>(`/accounts/${writes.accountId}/keys`, { expires_at: inMs(halfway) })
    const expired = await operator<{ key: string }>(`/accounts/${writes.accountId}/keys`, { expires_at: inMs(KEY_LIFE_MS) })
    const keyCreatedAt = performance.now()
    const [long, short] = [await listing(), await listing()]
    const expiry = (id: number, seconds: number) =>
      postgres.query(`update listings set expires_at = now() + interval '${seconds} s' where id = ${id} returning 1::text`)
    await expiry(long, halfway / 1_000)
    await expiry(short, PERIOD_SECONDS)
    const setAt = Date.now()
    const statusOf = async (id: number) => (await postgres.query(`select status from listings where id = ${id}`))[0]
    const soldFrom = await listing()
    for (let n = 1; n <= SALES; n++) await operator('/orders', { order_id: n, lines: [{ listing_id: soldFrom, quantity: 1 }] })
    await until('the short period has ended', async () => (await statusOf(short)) === 'expired')
    const shortMs = Date.now() - setAt
    await until('all notifications arrived', () => receiver.deliveries.size >= SALES + 1)
    await pause(RECEIVER_DELAY_MS * 2)
    // One second more, because a node uses the database's clock only if its own differs by more than that.
    await pause(KEY_LIFE_MS + 1_000 - (performance.now() - keyCreatedAt))
    const posts = [...receiver.deliveries.values()].reduce((sum, times) => sum + times, 0)
    const largestDifference = Math.max(...receiver.timestamps.map(({ sent, signed }) => Math.abs(sent - signed)))
    const name = (what: string) => `${sign}${OFFSET_SECONDS} s: ${what}`
    const statusFor = async (key: string) => (await ask(`${shifted.publicUrl}/api/v1/items`, key)).status
    const offsetMs = Math.abs(
      Date.parse(execFileSync('faketime', ['-f', `${sign}${OFFSET_SECONDS}s`, 'date', '-Is'], { encoding: 'utf8' }).trim()) - Date.now(),
    )
    progress(`clock offset ${sign}${OFFSET_SECONDS} s checked`)
    return [
      figure(name('clock offset of the second node'), `${Math.round(offsetMs / 1_000)} s`),
      count(name('status for a key that expires after half of it, on the second node'), await statusFor(valid.key), 200),
      count(name('status for an expired key, on the second node'), await statusFor(expired.key), 401),
      count(name('listings that expired early'), (await statusOf(long)) === 'active' ? 0 : 1, 0),
      atMost(
        name(`deviation of the end of a period of ${PERIOD_SECONDS} s`),
        Math.abs(shortMs / 1_000 - PERIOD_SECONDS),
        3,
        ' s',
        OFFSET_SECONDS / 2,
      ),
      // A notification is repeated if the busy receiver responds late; with leases by the wrong clock, half of them would be repeated.
      atMost(name(`repeated notifications of ${SALES} sales and 1 expiry`), posts - receiver.deliveries.size, 0, '', SALES / 4),
      atMost(name('largest difference between the signed time and the receiver’s clock'), largestDifference, 5, ' s', OFFSET_SECONDS / 2),
    ]
  } finally {
    for (const service of [shifted, correct]) if (service.ended() === null) await service.kill('SIGINT')
    await receiver.close()
    await postgres.stop('immediate')
    dir.remove()
  }
}

if (import.meta.main) {
  if (canShiftClock) conclude('clock offset of 10 minutes', await clockRun())
  else console.log('faketime is not installed (Debian: apt-get install faketime): skipped')
}
