// Faults of the database, in short: 503 in time, reads from memory, whole again, nothing lost; and a clock that is off.
import { expect, test } from 'vitest'
import { canShiftClock, clockRun } from '../../reliability/clock.ts'
import { databaseRun } from '../../reliability/database.ts'
import { broken } from '../../reliability/report.ts'

test('restarted, cut off, stopped, silent', async () => {
  expect(broken(await databaseRun({ frozenSeconds: 4 }))).toEqual([])
}, 90_000)

test.skipIf(!canShiftClock)('a node whose clock is 10 minutes off (skipped where faketime is not installed)', async () => {
  expect(broken(await clockRun())).toEqual([])
}, 120_000)
