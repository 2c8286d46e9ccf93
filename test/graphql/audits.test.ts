// Conformance to the GraphQL-over-HTTP specification: every audit of graphql-http, on both paths.
import { serverAudits } from 'graphql-http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestNode, type TestNode } from '../support/node.ts'

let node: TestNode

beforeAll(async () => {
  node = await startTestNode({ listeners: 'public' })
})

afterAll(() => node.close())

describe.each(['/graphql', '/graphql/v3'])('%s', (path) => {
  const audits = serverAudits({
    url: () => node.publicUrl + path,
    fetchFn: (url: string, init: RequestInit = {}) =>
      fetch(url, { ...init, headers: { ...init.headers, authorization: `Bearer ${node.keys.starter}` } }),
  })

  test('is covered by the whole suite', () => {
    expect(audits).toHaveLength(61)
  })

  test.each(audits.map((audit) => ({ name: audit.name, audit })))('$name', async ({ audit }) => {
    const result = await audit.fn()
    expect(result, 'reason' in result ? result.reason : '').toMatchObject({ status: 'ok' })
  })
})
