// The simulation of concurrent writes, in short: orders of two pairs with faults, and triples by seed.
import { expect, test } from 'vitest'
import { brokenUnderLoad } from '../../reliability/report.ts'
import { simulate } from '../../reliability/simulate.ts'

/** It ends after a time, not after a number: a busy machine runs fewer. */
const SECONDS = 45

test('orders of two writes, and of three by seed', async () => {
  const findings = await simulate({ pairs: [16, 221], orders: 60, withFaults: 1, planted: 0, triples: 200, seed: 1, seconds: SECONDS })
  expect(brokenUnderLoad(findings)).toEqual([])
})
