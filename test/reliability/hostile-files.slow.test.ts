// Hostile files, in short: each import fails or ends as it should, within its memory, and the service keeps running.
import { expect, test } from 'vitest'
import { hostileRun } from '../../reliability/hostile-files.ts'
import { brokenUnderLoad } from '../../reliability/report.ts'

test.skipIf(process.platform !== 'linux')('no uploaded file makes the service fail', { timeout: 1_800_000 }, async () => {
  expect(brokenUnderLoad(await hostileRun({ megabytes: 1.1 }))).toEqual([])
})
