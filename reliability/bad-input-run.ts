// Sends bad input to a node, checks every response, and verifies afterwards that refused requests had no effect.
import { Agent, request as httpRequest } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import type { GraphQLSchema } from 'graphql'
import { randomNumbers } from '#core/random.ts'
import { type Answered, judge } from './bad-input-check.ts'
import { badGraphqlRequest, fieldName, readSchema } from './bad-input-graphql.ts'
import { badMcpRequest, type McpTool, readTools, toolName } from './bad-input-mcp.ts'
import { openOperations } from './bad-input-open.ts'
import { aboutOf, type BadRequest, badRequest, extremeRequest, goodParts, type Operation, readOperations } from './bad-input-rest.ts'
import { HANG_MS } from './bad-input-keep-alive.ts'
import { requestsToRefuse } from './bad-input-refused.ts'
import { auditedRefusals, bystanderState, sendGood, type Target } from './bad-input-target.ts'
import { Chance } from './bad-input-values.ts'

export interface Attack {
  /** number of responses by group and status */
  statuses: Map<string, Map<number, number>>
  codes: Map<string, number>
  /** number of requests to each operation, field and tool, including those with none */
  requestsByName: Map<string, number>
  /** the first responses that broke a rule, with their requests */
  breaches: string[]
  breachCount: number
  /** refusals of input, and how many of them name the field */
  refusals: number
  named: number
  /** requests with a value that must be refused */
  refused: number
  /** 99th percentile of response times in milliseconds */
  p99Ms: number
  /** the slowest requests with their durations, slowest first */
  slowest: { milliseconds: number; request: string }[]
}

const CONCURRENCY = 8
const MAX_LISTED_BREACHES = 20
const MAX_LISTED_SLOWEST = 5
const UNPACK: Readonly<Record<string, (bytes: Buffer) => Buffer>> = { br: brotliDecompressSync, gzip: gunzipSync }
const GRAPHQL_SHARE = 0.25
const MCP_SHARE = 0.08
const EXTREME_SHARE = 0.3

/** Sends `requests` requests; the same seed yields the same requests for the same ids. */
export async function attack(
  target: Target,
  { requests, seed, onProgress = () => {} }: { requests: number; seed: number; onProgress?: (sent: number) => void },
): Promise<Attack> {
  const attacked = await readInterfaces(target)
  const { operations } = attacked
  const chance = new Chance(randomNumbers(seed))
  const agent = new Agent({ keepAlive: true, maxSockets: CONCURRENCY })
  const prefix = `bad-${seed}-`
  const result: Attack = {
    statuses: new Map(),
    codes: new Map(),
    requestsByName: new Map(namesOf(attacked).map((name) => [name, 0])),
    breaches: [],
    breachCount: 0,
    refusals: 0,
    named: 0,
    refused: 0,
    p99Ms: 0,
    slowest: [],
  }
  const times: number[] = []
  const succeeded = new Set<string>()
  const sentAs = new Map<string, BadRequest>()
  const before = await bystanderState(target)
  let sent = 0
  const sender = async () => {
    while (sent < requests) {
      const number = sent
      sent += 1
      if (number % 1_000 === 0) onProgress(number)
      const request = makeRequest(attacked, target, chance)
      for (const name of request.about) result.requestsByName.set(name, (result.requestsByName.get(name) ?? 0) + 1)
      sentAs.set(`${prefix}${number}`, request)
      const answered = await sendBad(request, agent, `${prefix}${number}`)
      times.push(answered.milliseconds)
      addToSlowest(result.slowest, request, answered.milliseconds)
      const { breach, succeeded: done, code, named } = judge(request, answered)
      if (breach) {
        result.breachCount += 1
        if (result.breaches.length < MAX_LISTED_BREACHES) result.breaches.push(`${describe(request)} ${breach}`)
      }
      if (done) succeeded.add(String(answered.headers['x-request-id']))
      count(result.statuses, request.group, answered.status)
      result.codes.set(code, (result.codes.get(code) ?? 0) + 1)
      if (named !== null) {
        result.refusals += 1
        if (named) result.named += 1
      }
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, sender))
  const toRefuse = requestsToRefuse(operations, (operation) => goodParts(operation, target, chance))
  const accepted: string[] = []
  for (const [i, request] of toRefuse.entries()) {
    const { status } = await sendBad(request, agent, `${prefix}refused-${i}`)
    if (status < 400 || status >= 500) accepted.push(`${describe(request)} answered ${status}`)
  }
  agent.destroy()
  result.refused = toRefuse.length
  times.sort((a, b) => a - b)
  result.p99Ms = times[Math.floor(times.length * 0.99)] ?? 0
  const wrong = [
    ...accepted,
    ...(await auditedRefusals(target, prefix, succeeded)).map(
      ({ id, action }) => `${id} was refused but left an audit row of ${action}: ${describe(sentAs.get(id))}`,
    ),
    ...((await bystanderState(target)) === before ? [] : ['data of another account was changed']),
    ...(await failedValidRequests(target)),
  ]
  result.breaches.push(...wrong)
  result.breachCount += wrong.length
  return result
}

function addToSlowest(slowest: Attack['slowest'], request: BadRequest, milliseconds: number): void {
  if (slowest.length === MAX_LISTED_SLOWEST && milliseconds <= slowest.at(-1)!.milliseconds) return
  slowest.push({ milliseconds, request: describe(request) })
  slowest.sort((a, b) => b.milliseconds - a.milliseconds)
  slowest.length = Math.min(slowest.length, MAX_LISTED_SLOWEST)
}

interface Interfaces {
  /** of both OpenAPI documents, and paths outside of them */
  operations: Operation[]
  schema: GraphQLSchema
  tools: McpTool[]
}

/** Reads all interfaces from the descriptions that the node serves. */
async function readInterfaces(target: Target): Promise<Interfaces> {
  return {
    operations: [
      ...(await readOperations(target.publicUrl, '/openapi.json')),
      ...(await readOperations(target.operatorUrl, '/operator/openapi.json')),
      ...openOperations(target),
    ],
    schema: await readSchema(target),
    tools: await readTools(target),
  }
}

function namesOf({ operations, schema, tools }: Interfaces): string[] {
  const roots = [schema.getQueryType()!, schema.getMutationType()!]
  const fields = roots.flatMap((root) => Object.keys(root.getFields()).map((field) => fieldName(root.name, field)))
  return [...operations.map(aboutOf), ...fields, ...tools.map(({ name }) => toolName(name))]
}

function makeRequest({ operations, schema, tools }: Interfaces, target: Target, chance: Chance): BadRequest {
  if (chance.is(GRAPHQL_SHARE)) return badGraphqlRequest(schema, target, chance)
  if (chance.is(MCP_SHARE)) return badMcpRequest(tools, target, chance)
  return (chance.is(EXTREME_SHARE) ? extremeRequest : badRequest)(chance.next('operations', operations), target, chance)
}

/** Sends the request as written; the status is 599 if no response arrives. */
function sendBad({ url, path, method, headers, body }: BadRequest, agent: Agent, requestId: string): Promise<Answered> {
  const { hostname, port, host } = new URL(url)
  const allHeaders = new Map<string, string>([['host', host], ['x-request-id', requestId], ...headers])
  allHeaders.set('content-length', String(body === null ? 0 : Buffer.byteLength(body)))
  const started = performance.now()
  return new Promise((resolve) => {
    const end = (status: number, answerHeaders: Answered['headers'], text: string) =>
      resolve({ status, headers: answerHeaders, text, milliseconds: performance.now() - started })
    const request = httpRequest({ hostname, port, path, method, headers: Object.fromEntries(allHeaders), agent, timeout: HANG_MS })
    request.on('timeout', () => request.destroy(new Error('no response in time')))
    request.on('error', (error) => end(599, {}, error.message))
    request.on('upgrade', (_response, socket) => {
      socket.destroy()
      end(599, {}, 'upgraded')
    })
    request.on('response', (response) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part)).on('error', (error) => end(599, response.headers, error.message))
      response.on('end', () => {
        const bytes = Buffer.concat(parts)
        const unpack = bytes.length > 0 ? UNPACK[response.headers['content-encoding'] ?? ''] : undefined
        end(response.statusCode!, response.headers, (unpack ? unpack(bytes) : bytes).toString())
      })
    })
    request.end(body ?? undefined)
  })
}

/** Valid requests to every interface. @returns those that failed */
async function failedValidRequests(target: Target): Promise<string[]> {
  const { publicUrl, operatorUrl, operatorToken, keys, listing } = target
  const item = target.ids.item[0]
  const good: [url: string, key: string, method?: string, json?: unknown][] = [
    [`${publicUrl}/api/v1/items/${item}`, keys.starter],
    [`${publicUrl}/api/v1/items/search?q=pikachu`, keys.enterprise],
    [`${publicUrl}/api/v1/plus/listings/${listing}/price`, keys.plus, 'PATCH', { price: 120 }],
    [`${publicUrl}/api/v1/plus/my-listings?with_item=1`, keys.plus],
    [`${publicUrl}/graphql`, keys.enterprise, 'POST', { query: `{ item(id: ${item}) { name prices { price } } }` }],
    [`${operatorUrl}/operator/v1/stats`, operatorToken],
    [`${operatorUrl}/operator/v1/audit`, operatorToken],
  ]
  const problems: string[] = []
  for (const [url, key, method, json] of good) await sendGood(url, key, method, json).catch((error: Error) => problems.push(error.message))
  return problems
}

/** A request as text from which it can be sent again. */
function describe(request: BadRequest | undefined): string {
  if (!request) return 'a value that must be refused'
  const { url, method, path, headers, body } = request
  const shown = headers.filter(([name]) => name !== 'authorization').map(([name, value]) => `${name}: ${value.slice(0, 60)}`)
  return `${method} ${url}${path.slice(0, 300)} [${shown.join('; ')}] ${JSON.stringify(String(body ?? '').slice(0, 400))}:`
}

function count(table: Map<string, Map<number, number>>, group: string, status: number): void {
  const row = table.get(group) ?? new Map<number, number>()
  row.set(status, (row.get(status) ?? 0) + 1)
  table.set(group, row)
}
