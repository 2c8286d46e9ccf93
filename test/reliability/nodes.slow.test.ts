// Several nodes, in short: when changes become visible, shared limits, restarts, an isolated worker, and a failover.
import { expect, test } from 'vitest'
import { nodesRun } from '../../reliability/nodes.ts'
import { brokenUnderLoad } from '../../reliability/report.ts'

test('three nodes over one database', async () => {
  expect(brokenUnderLoad(await nodesRun({ times: 3, partitionMs: 11_500 }))).toEqual([])
})
