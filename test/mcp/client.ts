// The official client of the Model Context Protocol, connected to a node with a key.
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'

/** The result of a tool. */
export interface ToolAnswer {
  isError: boolean
  content: Record<string, unknown> & { data?: unknown; code?: string; message?: string; details?: { field: string }[] }
}

/** Connects, runs a function and closes the connection. */
export async function withClient<T>(url: string, key: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ name: 'tests', version: '1' })
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers: { authorization: `Bearer ${key}` } } })
  await client.connect(transport as Transport)
  try {
    return await use(client)
  } finally {
    await client.close()
  }
}

/** Calls one tool; the text of its result must equal its structured content. */
export async function callTool(client: Client, name: string, args?: Record<string, unknown>): Promise<ToolAnswer> {
  const { isError, content, structuredContent } = await client.callTool({ name, ...(args && { arguments: args }) })
  const [{ text }] = content as [{ text: string }]
  if (JSON.stringify(structuredContent) !== JSON.stringify(JSON.parse(text))) throw new Error(`${name}: text and structured content differ`)
  return { isError: isError === true, content: structuredContent as ToolAnswer['content'] }
}
