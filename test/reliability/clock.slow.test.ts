// A node with a wrong clock: keys, periods, leases and signatures use the database's clock.
import { expect, test } from 'vitest'
import { canShiftClock, clockRun } from '../../reliability/clock.ts'
import { brokenUnderLoad } from '../../reliability/report.ts'

test.skipIf(!canShiftClock)(
  'a node with a clock offset of 10 minutes (skipped if faketime is not installed)',
  async () => {
    expect(brokenUnderLoad(await clockRun())).toEqual([])
  },
  600_000,
)
