// Kills under write load, in short: no acknowledged write is lost.
import { expect, test } from 'vitest'
import { killRun } from '../../reliability/kill.ts'
import { brokenUnderLoad } from '../../reliability/report.ts'

test('kill -9 of the process, of its database and of both', async () => {
  expect(brokenUnderLoad(await killRun({ kills: 3, maxLifeMs: 500 }))).toEqual([])
})
