// Memory under mixed load, in short: no request fails, and memory use stays within its limits.
import { expect, test } from 'vitest'
import { curve, memoryRun } from '../../reliability/memory.ts'
import { brokenUnderLoad } from '../../reliability/report.ts'

test('memory does not grow', async () => {
  const { findings, samples } = await memoryRun({ minutes: 0.2, rate: 80, warmUp: 0.5, every: 1 })
  expect(brokenUnderLoad(findings)).toEqual([])
  expect(curve(samples)).toMatch(/^<svg /)
})
