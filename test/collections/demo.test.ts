// The collections of the demo: they exist for the plans with collections, and have a worth.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { prepareDemo } from '#cli/demo/demo.ts'
import { makeShop } from '#cli/demo/make-demo.ts'
import { startTestNode, type TestNode } from '../support/node.ts'
import { collector } from './kit.ts'

let node: TestNode
const dataDir = mkdtempSync(join(tmpdir(), 'mintmark-demo-'))

beforeAll(async () => {
  node = await startTestNode({ listeners: 'public' })
})

afterAll(async () => {
  await node.close()
  rmSync(dataDir, { recursive: true, force: true })
})

test('Plus and Enterprise accounts have filled collections with a worth', async () => {
  const { access } = await makeShop(node.ctx, { ...node.config, dataDir })
  for (const plan of ['plus', 'enterprise'] as const) {
    const owner = collector(node, access.keys[plan])
    const { body } = await owner.ask<{ id: number; name: string; items_count: number; worth: { currencies: { value: number }[] } }[]>(
      'GET',
      '?with_value=1',
    )
    expect(body.data.map(({ name, items_count }) => [name, items_count > 0])).toEqual([
      ['Binder', true],
      ['Slabs', true],
      ['Sealed', true],
    ])
    for (const { id, items_count, worth } of body.data) {
      expect(await owner.list(id)).toHaveLength(items_count)
      expect(worth.currencies.some(({ value }) => value > 0)).toBe(true)
    }
    expect((await owner.list(body.data[1]!.id)).every((record) => / \d/.test(record.group_label!))).toBe(true)
  }
  expect(await prepareDemo(node.ctx, { ...node.config, dataDir })).toEqual(access)
})
