// Forecasts, in short: a few hundred generated writes, each forecast and then performed, and previews of recorded sales.
import { expect, test } from 'vitest'
import { forecastRun } from '../../reliability/forecast.ts'
import { brokenUnderLoad } from '../../reliability/report.ts'

test('400 writes and 1,000 sales', async () => {
  expect(brokenUnderLoad(await forecastRun({ writes: 400, previews: 1_000, seed: 1 }))).toEqual([])
})
