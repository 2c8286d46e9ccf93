// Mostly invalid requests of the Model Context Protocol: tools with arguments generated from their schemas, and malformed calls.
import type { Shape } from '#core/input.ts'
import { resolved } from '../test/support/openapi.ts'
import { type BadRequest, existingValues, oddHeaders } from './bad-input-rest.ts'
import type { Target } from './bad-input-target.ts'
import { bodyOf, type Chance, nastyBody, nastyJson } from './bad-input-values.ts'

/** A tool with the schema of its arguments. */
export interface McpTool {
  name: string
  inputSchema: Shape
}

export const MCP_PATH = '/mcp'

/** Reads the tools like any client. */
export async function readTools({ publicUrl, keys }: Pick<Target, 'publicUrl' | 'keys'>): Promise<McpTool[]> {
  const response = await fetch(publicUrl + MCP_PATH, {
    method: 'POST',
    headers: Object.fromEntries(headersFor(keys.enterprise)),
    body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
  })
  const { result } = (await response.json()) as { result: { tools: McpTool[] } }
  return resolved(result.tools)
}

const METHODS = ['tools/list', 'initialize', 'ping', 'resources/list', 'prompts/get', 'notifications/cancelled', 'nothing', '__proto__', '']
const HEADERS: readonly [name: string, value: string][] = [
  ['accept', 'application/json'],
  ['accept', 'text/event-stream'],
  ['mcp-protocol-version', '1999-01-01'],
  ['mcp-protocol-version', '\xff'],
  ['mcp-session-id', 'x'.repeat(3_000)],
  ['last-event-id', '1'],
]

export function badMcpRequest(tools: readonly McpTool[], target: Target, chance: Chance): BadRequest {
  const { name, inputSchema } = chance.next('tools', tools)
  const key = chance.is(0.95) ? chance.pick([target.keys.plus, target.keys.enterprise]) : target.keys.starter
  return {
    group: 'MCP tools',
    about: [toolName(name)],
    url: target.publicUrl,
    path: MCP_PATH,
    method: chance.is(0.97) ? 'POST' : chance.pick(['GET', 'DELETE', 'PUT', 'OPTIONS', 'HEAD']),
    headers: [...headersFor(key), ...(chance.is(0.08) ? [chance.pick(HEADERS)] : []), ...oddHeaders(chance)],
    body: message(name, inputSchema, target, chance),
    fields: Object.keys(inputSchema.properties ?? {}),
  }
}

/** Name of a tool in the coverage report. */
export function toolName(name: string): string {
  return `tool ${name}`
}

function headersFor(key: string): [name: string, value: string][] {
  return [
    ['authorization', `Bearer ${key}`],
    ['content-type', 'application/json'],
    ['accept', 'application/json, text/event-stream'],
  ]
}

function message(name: string, schema: Shape, target: Target, chance: Chance): string | Buffer {
  if (chance.is(0.05)) return nastyBody(chance)
  const args = chance.is(0.05) ? nastyJson(chance) : bodyOf(schema, chance, existingValues(target, `/${name.replace('_', 's/')}/`))
  const call = `{"name":${chance.is(0.04) ? nastyJson(chance) : JSON.stringify(name)},"arguments":${args}}`
  const members = [
    `"jsonrpc":${chance.is(0.03) ? nastyJson(chance) : '"2.0"'}`,
    `"id":${chance.is(0.05) ? nastyJson(chance) : '1'}`,
    `"method":${chance.is(0.05) ? JSON.stringify(chance.pick(METHODS)) : '"tools/call"'}`,
    `"params":${chance.is(0.04) ? nastyJson(chance) : call}`,
  ]
  const text = `{${members.filter(() => chance.is(0.98)).join(',')}}`
  return chance.is(0.02) ? `[${text},${text}]` : text
}
