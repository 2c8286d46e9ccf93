// Generated histories over HTTP: every sum of a profit is what a stranger computes from the export of lots and disposals (bench/collections/recompute-profit.ts).
import { expect, test } from 'vitest'
import { randomNumbers } from '#core/random.ts'
import { generateHistories } from '../../bench/collections/generated-histories.ts'
import { OPERATOR_TOKEN, startTestNode } from '../support/node.ts'
import { runs } from '../support/runs.ts'
import { operator } from './kit.ts'

const HISTORIES = 120

test('profits of generated histories are those of an independent computation from the export', { tags: 'slow' }, async () => {
  const node = await startTestNode()
  await operator(node, 'PATCH', `/accounts/${node.accounts.plus}`, { listing_intake: { quota: 100_000 } })
  const service = {
    publicUrl: node.publicUrl!,
    key: node.keys.plus,
    operatorUrl: node.operatorUrl!,
    operatorToken: OPERATOR_TOKEN,
    accountId: node.accounts.plus,
    db: node.db.kysely,
  }
  const { differences, histories, steps } = await generateHistories(service, { histories: runs(HISTORIES), random: randomNumbers(34), atOnce: 3 })
  await node.close()
  expect(differences).toEqual([])
  expect(histories).toBeGreaterThanOrEqual(runs(HISTORIES))
  for (const step of ['buy', 'sell', 'sell in the market', 'trade']) expect(steps.get(step)?.done, step).toBeGreaterThan(0)
})
