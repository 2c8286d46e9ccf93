// Recovery to a second, in short: exact, or the drill names what is missing; a crash loses less than the time of a WAL file.
import { expect, test } from 'vitest'
import { canRecover, recoveryRun } from '../../reliability/recovery.ts'
import { brokenUnderLoad } from '../../reliability/report.ts'

test.skipIf(!canRecover())(
  'the drill restores exactly or names what is missing (skipped where PostgreSQL of Debian is not installed)',
  async () => {
    expect(brokenUnderLoad(await recoveryRun({ archiveSeconds: 5 }))).toEqual([])
  },
  600_000,
)
