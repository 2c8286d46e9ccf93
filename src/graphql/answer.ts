// Executes one GraphQL request: document, plan, limits, execution.
import { execute, type ExecutionResult, type GraphQLFormattedError, type GraphQLSchema, OperationTypeNode } from 'graphql'
import { ServiceError } from '#core/errors.ts'
import { conditionUnsupported } from '#core/precondition.ts'
import { type Reason, reason } from '#core/problems.ts'
import { mayCall } from '#core/verb.ts'
import type { GraphqlCtx, QueryCtx } from './execution/context.ts'
import type { Documents, ParsedDocument, ParsedOperation } from './documents.ts'
import { documentError, executionError, requestError, RequestError } from './execution/errors.ts'
import type { ItemBytes } from './execution/item-bytes.ts'
import { INTROSPECTION_COST, limitsOf, MAX_ANSWER, tooLarge } from './execution/limits.ts'
import { MUTATIONS_NEED } from './types/mutations.ts'
import type { Output } from './execution/output.ts'
import type { Values } from './execution/variables.ts'

/** Parameters of a GraphQL request, checked for their types. */
export interface GraphqlRequest {
  query: string
  variables: Values
  operationName: string | null
}

export interface GraphqlRules {
  schema: GraphQLSchema
  documents: Documents
  itemBytes: ItemBytes | null
  /** whether queries are compiled; otherwise graphql-js executes all */
  compiles: boolean
  /** where one compiled response after the other is written */
  output: Output
  /** where causes of internal errors are logged */
  logged: (cause: unknown) => void
}

export interface Execution {
  /** context of queries from memory, whose result is the same for everyone on the plan */
  shared: QueryCtx
  /** context of mutations and of fields from the database, for this caller only */
  own: () => GraphqlCtx
  /** whether mutations are allowed */
  mutations: boolean
}

/** The JSON of an execution result. */
export interface Answer {
  body: Buffer
  /** whether it is the same for everyone on the plan */
  shared: boolean
  /** whether it has errors of fields */
  failed: boolean
  /** whether changes of prices that it does not show leave it as it is: those added to `reads` */
  followed: boolean
}

/**
 * Executes a request.
 * @throws RequestError if nothing was executed; METHOD_NOT_ALLOWED, PLAN_UPGRADE_REQUIRED, READ_ONLY_KEY for mutations, VALIDATION_ERROR for one
 * with If-Match
 */
export function answerTo(request: GraphqlRequest, { shared, own, mutations }: Execution, rules: GraphqlRules): Answer | Promise<Answer> {
  const { documents, schema, logged } = rules
  const parsed = documents.read(request.query)
  const { document } = parsed
  const operation = chosen(parsed, request.operationName)
  const isMutation = operation?.node.operation === OperationTypeNode.MUTATION
  if (isMutation && !mutations) throw new ServiceError('METHOD_NOT_ALLOWED', reason('method', { values: ['POST'] }), { headers: { allow: 'POST' } })
  const mutating = isMutation ? own() : null
  if (mutating) {
    mayCall(mutating.viewer, { needs: MUTATIONS_NEED, writes: true })
    // If-Match applies to one resource; a document may change several.
    if (mutating.precondition) throw conditionUnsupported()
  }
  if (parsed.errors.length > 0) throw new RequestError(parsed.errors)
  mayCall(shared.viewer, { needs: parsed.needs, writes: false })
  const ctx = mutating ?? (parsed.readsDatabase ? own() : shared)
  if (!operation) throw requestError(unknownOperation(request.operationName))
  const limits = limitsOf(ctx.viewer)
  const problem = tooLarge(parsed.size, limits)
  if (problem) throw requestError(problem)
  const { requested, introspection } = documents.costOf(parsed, operation, request.variables)
  const cost = { requested, limit: limits.cost, left: Math.max(0, limits.cost - requested) }
  if (requested > limits.cost) {
    throw requestError(reason('query_cost', { cost: requested, max: limits.cost }), { cost })
  }
  if (introspection > INTROSPECTION_COST) throw requestError(reason('introspection_cost'), { cost })
  const answerOf = (body: Buffer, hasErrors: boolean): Answer => {
    if (body.length > MAX_ANSWER) throw requestError(reason('answer_size', { max: MAX_ANSWER }), { cost })
    return { body, shared: ctx === shared, failed: hasErrors, followed: parsed.followed }
  }
  if (ctx === shared && writeCompiled(parsed, operation, request.variables, ctx, cost, rules)) return answerOf(rules.output.finish(), false)
  const result = execute({
    schema,
    document,
    contextValue: ctx,
    variableValues: request.variables,
    operationName: request.operationName,
  })
  const finish = (done: ExecutionResult) => answerOf(Buffer.from(textOf(done, cost, logged)), done.errors !== undefined)
  return result instanceof Promise ? result.then(finish) : finish(result)
}

/** The operation of a name, or the only one. */
function chosen({ operations }: ParsedDocument, name: string | null): ParsedOperation | undefined {
  if (name === null) return operations.length === 1 ? operations[0] : undefined
  return operations.find(({ node }) => node.name?.value === name)
}

/** Writes a response with compiled functions; false if graphql-js must execute the query, because it handles errors of fields. */
function writeCompiled(
  parsed: ParsedDocument,
  operation: ParsedOperation,
  sent: Values,
  ctx: QueryCtx,
  cost: Cost,
  { documents, itemBytes, output, compiles }: GraphqlRules,
): boolean {
  if (!compiles) return false
  const variables = operation.variables(sent)
  const compiled = variables && documents.compiled(parsed, operation, variables)
  if (!compiled) return false
  itemBytes?.follow(ctx.catalogue.generation)
  output.begin()
  output.text = '{"data":'
  try {
    compiled({ ctx, variables, output })
  } catch {
    // Reads have no side effects, so they can be repeated.
    return false
  }
  output.text += `,"extensions":{"cost":${JSON.stringify(cost)}}}`
  return true
}

/** The value of `extensions.cost`. */
interface Cost {
  requested: number
  limit: number
  left: number
}

function textOf({ data, errors }: ExecutionResult, cost: Cost, logged: (cause: unknown) => void): string {
  if (data === undefined) throw new RequestError((errors ?? []).map(documentError), { cost })
  const formatted: GraphQLFormattedError[] | undefined = errors?.map((error) => executionError(error, logged))
  return JSON.stringify({ ...(formatted && { errors: formatted }), data, extensions: { cost } })
}

function unknownOperation(name: string | null): Reason {
  return name === null ? reason('operation_missing') : reason('operation_name', { name })
}
