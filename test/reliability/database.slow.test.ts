// Database faults, in short: 503 in time, reads from memory, full recovery, nothing lost.
import { expect, test } from 'vitest'
import { databaseRun } from '../../reliability/database.ts'
import { brokenUnderLoad } from '../../reliability/report.ts'

test('restarted, disconnected, stopped, unresponsive', async () => {
  expect(brokenUnderLoad(await databaseRun({ frozenSeconds: 3 }))).toEqual([])
})
