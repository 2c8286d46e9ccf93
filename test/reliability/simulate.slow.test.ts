// The simulation of concurrent writes, in short: orders of a few pairs with faults, and triples by seed.
import { expect, test } from 'vitest'
import { brokenUnderLoad } from '../../reliability/report.ts'
import { simulate } from '../../reliability/simulate.ts'

/** It ends after a time, not after a number: a busy machine runs fewer. */
const SECONDS = 45
/** An order and the answer to an offer, an offer and the deletion of its listing, that and the answer, and two saves of a webhook. */
const PAIRS = [20, 85, 286, 350]

test('orders of two writes, and of three by seed', async () => {
  const findings = await simulate({ pairs: PAIRS, orders: 25, withFaults: 1, planted: 0, triples: 500, seed: 1, seconds: SECONDS })
  expect(brokenUnderLoad(findings)).toEqual([])
})
