// The Model Context Protocol at `/mcp` (Streamable HTTP without sessions or streams): each tool for language models is a verb.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  InitializeRequestSchema,
  ListToolsRequestSchema,
  McpError,
  PingRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv'
import type { FastifyInstance } from 'fastify'
import { addGate, allow, type TestKeys } from '#accounts/keys/gate.ts'
import type { Keyring } from '#accounts/keys/keyring.ts'
import type { RateLimits } from '#accounts/limits/rate-limits.ts'
import type { Log } from '#core/context.ts'
import { ServiceError } from '#core/errors.ts'
import { reason } from '#core/problems.ts'
import { call, mayCall, withFamilyCode, type Viewer } from '#core/verb.ts'
import { type Answer, asServiceError, errorBody, successBody } from '#http/envelope.ts'
import { type Failures, failuresOf } from '#http/failures.ts'
import { apiRequest, viewerOf } from '#http/fastify-adapter.ts'
import type { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import type { ApiRequest } from '#http/respond.ts'
import type { Route } from '#http/route.ts'
import { registerOtherMethods } from '#http/routes.ts'
import { errorHandler } from '#http/server.ts'
import { allows } from '#prices/records/source-terms.ts'
import { publicContext, type PublicContextNode, type PublicCtx } from '#public-context.ts'
import { passedOn } from './passed-on.ts'
import { type AnyVerb, inputSchemaOf, TOOLS } from './tools.ts'

export interface McpNode extends PublicContextNode {
  config: PublicContextNode['config'] & { corsOrigins: '*' | readonly string[] }
  log: Log
  keys: Keyring
  limits: RateLimits | null
  testKeys: TestKeys | null
}

const INFO = { name: 'mintmark', title: 'Mintmark', version: '1' }
const INSTRUCTIONS =
  'Prices of trading cards and sealed products from several sources, and a marketplace for them. An item shows the prices of one ' +
  'market, and so one currency, at a time. Listings and sales are in TL. Errors have a code and say what is allowed.'
const URL_OF_REQUESTS = 'http://localhost/mcp'

const byName = new Map(TOOLS.map((tool) => [tool.name, { ...tool, inputSchema: inputSchemaOf(tool) }]))

/** Adds `/mcp` to the public listener; tools respond like the REST routes of their verbs. */
export function addMcp(app: FastifyInstance, node: McpNode, routes: readonly Route<PublicCtx>[]): void {
  const { corsOrigins } = node.config
  const answers = new Map<AnyVerb, Route<PublicCtx>['answer']>(routes.map(({ verb, answer }) => [verb, answer]))
  const { catalogue } = node
  const contextOf = publicContext(node)
  const ctx: ToolRules['ctx'] = (viewer, request) => ({
    ...contextOf(viewer, request),
    mayUse: (market) => allows(catalogue.terms[market]!, 'redistribute'),
  })
  const rules: ToolRules = { ctx, catalogue, answers, failed: failuresOf(node.log), keys: node.keys }
  const jsonSchemaValidator = new AjvJsonSchemaValidator()
  app.register(async (scope) => {
    // Before the gate: requests from pages of other origins are rejected, whatever their key.
    scope.addHook('onRequest', (request, _reply, done) => {
      const { origin } = request.headers
      if (origin !== undefined && corsOrigins !== '*' && !corsOrigins.includes(origin)) {
        throw new ServiceError('ORIGIN_NOT_ALLOWED', reason('page_not_allowed', { value: origin }))
      }
      done()
    })
    addGate(scope, node.keys, node.limits, undefined, node.testKeys)
    scope.setErrorHandler(errorHandler(failuresOf(node.log, rpcError)))
    scope.post('/mcp', { schema: { hide: true } as object }, async (request, reply) => {
      const { body } = request
      // One request counts once, but a batch could contain any number of calls.
      if (typeof body !== 'object' || body === null || Array.isArray(body)) {
        throw new ServiceError('INVALID_JSON', reason('json_object', { part: 'body' }))
      }
      const problems = problemsOf(body)
      if (problems !== null) return reply.send(invalidParams(body, problems))
      const { server } = new McpServer(INFO, { capabilities: { tools: {} }, instructions: INSTRUCTIONS, jsonSchemaValidator })
      const viewer = viewerOf(request)
      const httpRequest = apiRequest(request)
      server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: toolsFor(viewer) }))
      server.setRequestHandler(CallToolRequestSchema, ({ params }) => callTool(rules, viewer, httpRequest, params))
      const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
      await server.connect(transport)
      try {
        const response = await transport.handleRequest(new Request(URL_OF_REQUESTS, { method: 'POST', headers: textHeaders(httpRequest) }), {
          parsedBody: body,
        })
        return await reply
          .code(response.status)
          .headers(Object.fromEntries(response.headers))
          .send(response.body ? Buffer.from(await response.arrayBuffer()) : undefined)
      } finally {
        await server.close()
      }
    })
    registerOtherMethods(scope, '/mcp', ['POST'])
  })
}

/** An error in the form of the protocol; `data` contains our code. */
function rpcError(error: ServiceError): object {
  const code = error.code === 'INVALID_JSON' ? ErrorCode.ParseError : ErrorCode.ConnectionClosed
  return { jsonrpc: '2.0', id: null, error: { code, message: error.message, data: errorBody(error).error } }
}

const SCHEMAS = [InitializeRequestSchema, PingRequestSchema, ListToolsRequestSchema, CallToolRequestSchema]

/** The errors of a request with a known method; the SDK would report them as an internal error. */
function problemsOf(body: object): string | null {
  const { method } = body as { method?: unknown }
  const found = SCHEMAS.find(({ shape }) => shape.method.value === method)?.safeParse(body)
  return !found || found.success ? null : found.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ')
}

function invalidParams(body: object, problems: string): object {
  const { id } = body as { id?: unknown }
  return {
    jsonrpc: '2.0',
    id: typeof id === 'string' || typeof id === 'number' ? id : null,
    error: { code: ErrorCode.InvalidParams, message: `Invalid params: ${problems}` },
  }
}

/** The headers that the transport reads. */
function textHeaders({ headers }: ApiRequest): Record<string, string> {
  const names = ['accept', 'content-type', 'mcp-protocol-version']
  return Object.fromEntries(names.flatMap((name) => (typeof headers[name] === 'string' ? [[name, headers[name]]] : [])))
}

/** The tools whose verbs the caller may use. */
function toolsFor(viewer: Viewer): object[] {
  return [...byName.values()]
    .filter(({ verb }) => isAllowed(viewer, verb))
    .map(({ name, title, description, verb, inputSchema }) => ({
      name,
      title,
      description,
      inputSchema,
      annotations: { readOnlyHint: !verb.writes, destructiveHint: verb.writes, idempotentHint: true, openWorldHint: false },
    }))
}

function isAllowed(viewer: Viewer, verb: AnyVerb): boolean {
  try {
    mayCall(viewer, verb)
    return true
  } catch {
    return false
  }
}

interface ToolRules {
  catalogue: Catalogue
  ctx: (viewer: Viewer, request: ApiRequest) => PublicCtx
  answers: ReadonlyMap<AnyVerb, Route<PublicCtx>['answer']>
  failed: Failures
  keys: Keyring
}

async function callTool(
  { ctx, catalogue, answers, failed, keys }: ToolRules,
  viewer: Viewer,
  request: ApiRequest,
  { name, arguments: args = {} }: { name: string; arguments?: Record<string, unknown> | undefined },
): Promise<CallToolResult> {
  const tool = byName.get(name)
  if (!tool) throw new McpError(ErrorCode.InvalidParams, `Unknown tool: ${name}`)
  const { verb, defaults } = tool
  try {
    // The request is already counted, but not this verb in the key's usage.
    await allow(viewer, verb, null, keys.usage)
    // Request headers are omitted: `If-Match` or `Idempotency-Key` would have to apply to one tool, not to the request.
    const result: unknown = await call(verb, ctx(viewer, { ...request, headers: {} }), { ...defaults, ...args })
    return resultOf((answers.get(verb) ?? asData)(result as never), catalogue)
  } catch (error) {
    const refusal = asServiceError(withFamilyCode(error, verb))
    failed(refusal, request)
    return { isError: true, ...content(errorBody(refusal).error) }
  }
}

const asData = (data: object) => ({ data })

/** The fields of a REST response, without `success` and without prices that may not be passed on. */
function resultOf(answer: ReturnType<Route<PublicCtx>['answer']>, catalogue: Catalogue): CallToolResult {
  const bytes = 'bytes' in answer ? answer.bytes() : 'body' in answer ? answer.body : null
  const body = bytes instanceof Buffer ? JSON.parse(bytes.toString()) : successBody(answer as Answer)
  const { success: _, ...members } = body as Record<string, unknown>
  return content(passedOn(members, catalogue) as object)
}

/** As structured content for programs, and as text for clients that support only text. */
function content(structured: object): Pick<CallToolResult, 'content' | 'structuredContent'> {
  return { content: [{ type: 'text', text: JSON.stringify(structured) }], structuredContent: structured as Record<string, unknown> }
}
