// Slow and misbehaving clients, in short, with a test node.
import { existsSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { prepareTarget, type Target } from '../../reliability/bad-input-target.ts'
import { brokenUnderLoad } from '../../reliability/report.ts'
import { runMisbehavingClients, SHORT } from '../../reliability/slow-clients-run.ts'
import { makeCatalogue } from '../market/kit.ts'
import { OPERATOR_TOKEN, startTestNode, type TestNode } from '../support/node.ts'

let node: TestNode
let target: Target

beforeAll(async () => {
  node = await startTestNode({ worker: true })
  await makeCatalogue(node)
  target = await prepareTarget({ publicUrl: node.publicUrl!, operatorUrl: node.operatorUrl!, operatorToken: OPERATOR_TOKEN, db: node.db })
})

afterAll(() => node.close())

test('slow and misbehaving clients are disconnected, and other clients are not affected', async () => {
  const folder = join(tmpdir(), `mintmark-uploads-${process.pid}`)
  const there = () => (existsSync(folder) ? readdirSync(folder) : [])
  // Nodes of earlier tests in this process used the same folder.
  const before = new Set(there())
  const uploads = () => there().filter((name) => !before.has(name))
  const findings = await runMisbehavingClients(
    { ...target, key: target.keys.enterprise, collection: target.ids.collection[0]!, residentMb: () => null, uploads },
    SHORT,
  )
  expect(brokenUnderLoad(findings)).toEqual([])
})
