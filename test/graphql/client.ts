// Queries sent by plain HTTP, for the tests of GraphQL.
import type { Plan } from '#core/plans.ts'
import type { TestNode } from '../support/node.ts'

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
