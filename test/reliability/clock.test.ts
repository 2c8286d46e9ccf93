// A node whose clock is off: keys, periods, leases and signatures use the database's.
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
