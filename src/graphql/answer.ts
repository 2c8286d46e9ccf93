// One GraphQL request answered: document, plan, limits, execution.
import {
  execute,
  type ExecutionResult,
  getOperationAST,
  getVariableValues,
  type GraphQLFormattedError,
  type GraphQLSchema,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql'
import { ServiceError } from '#core/errors.ts'
import { mayCall } from '#core/verb.ts'
import type { GraphqlCtx, QueryCtx } from './context.ts'
import type { Documents, KnownDocument } from './documents.ts'
import { documentError, executionError, refused, RequestRefused } from './errors.ts'
import type { KeptTexts } from './kept-texts.ts'
import { INTROSPECTION_COST, limitsOf, MAX_ANSWER, tooLarge } from './limits.ts'
import { MUTATIONS_NEED } from './mutations.ts'

/** Parameters of a GraphQL request, checked for their types. */
export interface GraphqlRequest {
  query: string
  variables: Readonly<Record<string, unknown>>
  operationName: string | null
}

export interface GraphqlRules {
  schema: GraphQLSchema
  documents: Documents
  texts: KeptTexts
  /** where causes of internal errors go */
  logged: (cause: unknown) => void
}

/** Who asks: mutations are refused where only queries are allowed, as by GET. */
export type Asker = { ctx: GraphqlCtx; readOnly: boolean } | { ctx: QueryCtx; readOnly: true }

/** The JSON text of an execution result. */
export interface Answer {
  text: string
  /** whether it has errors of fields */
  failed: boolean
}

/**
 * Answers a request.
 * @throws RequestRefused where nothing was executed; PLAN_UPGRADE_REQUIRED and METHOD_NOT_ALLOWED for mutations
 */
export function answerTo(request: GraphqlRequest, { ctx, readOnly }: Asker, rules: GraphqlRules): Answer | Promise<Answer> {
  const known = rules.documents.read(request.query)
  const { document } = known
  const operation = getOperationAST(document, request.operationName)
  if (operation?.operation === OperationTypeNode.MUTATION) {
    if (readOnly) throw new ServiceError('METHOD_NOT_ALLOWED', 'Mutations are sent by POST', { headers: { allow: 'POST' } })
    mayCall(ctx.viewer, MUTATIONS_NEED)
  }
  if (known.errors.length > 0) throw new RequestRefused(known.errors)
  if (!operation) throw refused(unknownOperation(request.operationName))
  const limits = limitsOf(ctx.viewer)
  const problem = tooLarge(known.size, limits)
  if (problem) throw refused(problem)
  const { requested, introspection } = rules.documents.costOf(known, operation, request.variables)
  const cost = { requested, limit: limits.cost, left: Math.max(0, limits.cost - requested) }
  if (requested > limits.cost) {
    throw refused(`The query costs ${requested}; the plan allows ${limits.cost}. Ask for smaller pages or fewer fields`, { cost })
  }
  if (introspection > INTROSPECTION_COST) throw refused(`The query asks for too much of the schema at once`, { cost })
  const text = compiledAnswer(known, operation, request.variables, ctx, rules)
  if (text !== null) return { text: whole(`{"data":${text},"extensions":${JSON.stringify({ cost })}}`, cost), failed: false }
  const result = execute({
    schema: rules.schema,
    document,
    contextValue: ctx,
    variableValues: request.variables,
    operationName: request.operationName,
  })
  const finish = (done: ExecutionResult) => ({ text: textOf(done, cost, rules.logged), failed: done.errors !== undefined })
  return result instanceof Promise ? result.then(finish) : finish(result)
}

/** The data as compiled functions write it, null where graphql-js is to answer: it knows what an error does to an answer. */
function compiledAnswer(
  known: KnownDocument,
  operation: OperationDefinitionNode,
  sent: GraphqlRequest['variables'],
  ctx: QueryCtx,
  { schema, documents, texts }: GraphqlRules,
): string | null {
  const { variableValues } = getVariableValues(schema, operation.variableDefinitions ?? [], sent)
  const compiled = variableValues && documents.compiled(known, operation, variableValues)
  if (!compiled) return null
  texts.follow(ctx.catalogue.generation)
  try {
    return compiled({ ctx, variables: variableValues, texts })
  } catch {
    // Reads have no effects, so that they can be done again.
    return null
  }
}

function textOf({ data, errors }: ExecutionResult, cost: object, logged: (cause: unknown) => void): string {
  if (data === undefined) throw new RequestRefused((errors ?? []).map(documentError), { cost })
  const formatted: GraphQLFormattedError[] | undefined = errors?.map((error) => executionError(error, logged))
  return whole(JSON.stringify({ ...(formatted && { errors: formatted }), data, extensions: { cost } }), cost)
}

function whole(text: string, cost: object): string {
  if (text.length <= MAX_ANSWER) return text
  throw refused(`The answer has more than ${MAX_ANSWER} characters. Ask for smaller pages or fewer fields`, { cost })
}

function unknownOperation(name: string | null): string {
  return name === null ? 'The document has several operations: send operationName' : `The document has no operation named ${name}`
}
