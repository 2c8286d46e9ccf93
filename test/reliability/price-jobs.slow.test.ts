// Kills while price jobs are applied and undone, in short: all or nothing, and an undo is exact.
import { expect, test } from 'vitest'
import { priceJobKills } from '../../reliability/price-jobs.ts'
import { brokenUnderLoad } from '../../reliability/report.ts'

test('kill -9 while price jobs are applied and undone', async () => {
  expect(brokenUnderLoad(await priceJobKills({ kills: 4, rows: 300 }))).toEqual([])
})
