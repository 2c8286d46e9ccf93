// A node with the sample catalogue for the tests of GraphQL, and queries sent by plain HTTP.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Plan } from '#core/plans.ts'
import { importFiles, startTestNode, type TestNode } from '../support/node.ts'

const SAMPLES = ['pokemon.ndjson', 'onepiece.ndjson']

/** A node with the sample catalogue. */
export async function startSampleNode(env: Record<string, string> = {}): Promise<TestNode> {
  const node = await startTestNode({ env })
  const read = (name: string) => readFileSync(fileURLToPath(new URL(`../../sample/${name}`, import.meta.url)))
  const report = await importFiles(
    node,
    'mintmark-ndjson',
    SAMPLES.map((name) => ({ name, text: read(name) })),
  )
  if (report.status !== 'done') throw new Error(`The sample was not taken: ${JSON.stringify(report.why)}`)
  return node
}

export interface GraphqlError {
  message: string
  path?: (string | number)[]
  locations?: object[]
  extensions: {
    code: string
    status: number
    rule?: string
    params?: object
    details?: { field: string; message: string; rule: string; params: object }[]
  }
}

export interface GraphqlReply<T> {
  status: number
  headers: Headers
  data: T
  errors?: GraphqlError[]
  extensions?: { cost: { requested: number; limit: number; left: number } }
}

interface Asking {
  plan?: Plan
  variables?: Record<string, unknown>
  operationName?: string
  accept?: string
  path?: string
}

/** Sends a query by POST. */
export async function ask<T = never>(node: TestNode, query: string, asking: Asking = {}): Promise<GraphqlReply<T>> {
  const { plan = 'professional', variables, operationName, accept = 'application/json', path = '/graphql' } = asking
  const body = JSON.stringify({ query, ...(variables && { variables }), ...(operationName && { operationName }) })
  return post(node, body, { authorization: `Bearer ${node.keys[plan]}`, accept }, path)
}

/** Sends any body with any headers. */
export async function post<T = never>(node: TestNode, body: string, headers: Record<string, string>, path = '/graphql'): Promise<GraphqlReply<T>> {
  const response = await fetch(node.publicUrl + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  })
  return { status: response.status, headers: response.headers, ...((await response.json()) as Pick<GraphqlReply<T>, 'data'>) }
}
