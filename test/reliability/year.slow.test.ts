// A year with a leap day and changes of the clock: what the documentation promises about time holds at its moment.
import { existsSync, readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { machineMs } from '#core/process/time-and-chance.ts'
import { archives, openYear, runYear } from './year-kit.ts'
import { PROMISES } from './year-promises.ts'

const ZONE = 'Europe/Berlin'
const DAYS = 398
const SETTINGS = { PRICE_ARCHIVE_MONTHS: '5', AUDIT_ARCHIVE_MONTHS: '2', PRICE_HISTORY_DAYS: '300', AUDIT_LOG_DAYS: '250', NOTICE_DAYS: '200' }

test('the table of the documentation has these promises, and tests that exist', () => {
  const rows = [...readFileSync('docs/reliability.md', 'utf8').matchAll(/^\| ([^|]+) \| (year|[^|]*\.ts`[^|]*) \|$/gm)]
  const ofYear = rows.filter(([, , where]) => where === 'year').map(([, promise]) => promise!.toLowerCase())
  expect(ofYear).toEqual(PROMISES.map(({ name }) => name.toLowerCase()))
  const files = rows.flatMap(([, , where]) => [...where!.matchAll(/`((?:test|reliability)\/[^` ]+\.ts)`/g)].map(([, file]) => file!))
  expect(files.length).toBeGreaterThan(20)
  expect(files.filter((file) => !existsSync(file))).toEqual([])
})

describe('in a year', () => {
  let outcome: Awaited<ReturnType<typeof runYear>>

  beforeAll(async () => {
    const opened = await openYear(new Date('2027-02-01T10:00:00Z'), ZONE, 2_500, SETTINGS)
    const beganMs = machineMs()
    outcome = await runYear(opened, PROMISES, { days: DAYS, zone: ZONE, more: [archives(opened, ZONE)] })
    console.info(
      `${DAYS} days in ${Math.round((machineMs() - beganMs) / 1_000)} s: ${[...outcome.ran].map(([name, runs]) => `${name} ${runs.length}`).join(', ')}`,
    )
    await opened.close()
  }, 300_000)

  test.each(PROMISES.map(({ name }) => name))('%s', (name) => {
    expect(outcome.errors.get(name)).toEqual([])
  })
})
