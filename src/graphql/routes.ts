// GraphQL over HTTP on the public listener: the gate, both media types, GET for queries only, and GraphiQL for browsers.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { addGate } from '#accounts/gate.ts'
import type { Log } from '#core/context.ts'
import { ServiceError } from '#core/errors.ts'
import { publicContext, type PublicContextNode } from '#public-context.ts'
import type { RawQuery } from '#http/query.ts'
import { shownTo } from '#http/demo-key.ts'
import { keepCompressed, KeptAnswers } from '#http/kept-answers.ts'
import { textOfBody } from '#http/json.ts'
import { registerOtherMethods } from '#http/routes.ts'
import { answerError } from '#http/server.ts'
import { unpackBody } from '#http/unpack.ts'
import { answerTo, type GraphqlRequest, type GraphqlRules } from './answer.ts'
import { answerQueriesDirectly, queryMayBeKept, PATHS, type QueryNode } from './direct-queries.ts'
import { Documents } from './documents.ts'
import { RequestRefused, serviceError } from './errors.ts'
import { addGraphiql, sendGraphiql } from './graphiql.ts'
import { KeptBytes } from './kept-bytes.ts'
import { BODY_LIMIT } from './limits.ts'
import { answerType, contentTypeOf, GRAPHQL_RESPONSE, JSON_TYPE, wantsPage } from './media-types.ts'
import { Output } from './output.ts'
import { readBody, readQuery } from './request.ts'
import { buildSchema } from './schema.ts'

export type GraphqlNode = PublicContextNode & QueryNode & {
  log: Log
  /** key of the demo to fill in, null outside it */
  demoKey: string | null
}

/** Bytes of whole answers that are kept, and of items as queries select them. */
const KEPT_ANSWERS = 24 * 1024 * 1024
const KEPT_ITEMS = 32 * 1024 * 1024

/**
 * Adds the GraphQL endpoint to the public listener.
 * @returns answers queries before Fastify does; to be called once the listener is ready, before it listens
 */
export function addGraphql(app: FastifyInstance, node: GraphqlNode): { answerDirectly: () => void } {
  const schema = buildSchema()
  const keptItems = new KeptBytes(KEPT_ITEMS)
  const rules: GraphqlRules = {
    schema,
    documents: new Documents(schema, keptItems),
    keptItems,
    output: new Output(),
    logged: (cause) => node.log.error({ err: cause }, 'A GraphQL field failed'),
  }
  const kept = new KeptAnswers(KEPT_ANSWERS, () => node.catalogue.version + node.catalogue.pricesElsewhere)
  const ctxOf = publicContext(node)
  const answer = (request: FastifyRequest, reply: FastifyReply, read: () => GraphqlRequest, readOnly: boolean) => {
    const type = answerType(request.headers.accept)
    if (!type) throw new ServiceError('NOT_ACCEPTABLE', `Answers are ${GRAPHQL_RESPONSE} or ${JSON_TYPE}`)
    reply.header('content-type', contentTypeOf(type))
    const refuse = (error: unknown) => {
      if (!(error instanceof RequestRefused)) throw error
      // By the specification, JSON answers to well-formed requests are 200 whatever became of the document.
      if (type === GRAPHQL_RESPONSE) reply.code(400)
      return Buffer.from(JSON.stringify({ errors: error.errors, ...(error.extensions && { extensions: error.extensions }) }))
    }
    try {
      const asked = read()
      const answered = answerTo(asked, { ctx: ctxOf(request, asked), readOnly }, rules)
      // Only mutations take a promise. What they answer, secrets included, is for their caller alone.
      if (answered instanceof Promise) {
        reply.header('cache-control', 'no-store')
        return answered.then(({ body }) => body).catch(refuse).then((body) => reply.send(body))
      }
      if (!answered.failed) queryMayBeKept(request, kept)
      return reply.send(answered.body)
    } catch (error) {
      return reply.send(refuse(error))
    }
  }

  addGraphiql(app)
  app.register(async (scope) => {
    // Before the gate: the page needs no key, what it asks for does.
    scope.addHook('onRequest', (request, reply, done) => {
      if ((request.method === 'GET' || request.method === 'HEAD') && wantsPage(request.headers.accept)) sendGraphiql(reply, shownTo(request, node.demoKey))
      else done()
    })
    addGate(scope, node.keys, node.limits)
    keepCompressed(scope)
    scope.setErrorHandler((error, request, reply) => {
      answerError(node.log, error, request, reply, (answer) => ({ errors: [serviceError(answer)] }))
    })
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser(JSON_TYPE, { parseAs: 'buffer' }, async ({ headers, routeOptions }: FastifyRequest, body: Buffer) => {
      const bytes = await unpackBody(headers['content-encoding'], body, routeOptions.bodyLimit)
      return textOfBody(headers['content-type']!, bytes)
    })
    for (const url of PATHS) {
      const reference = { schema: { hide: true } as object, bodyLimit: BODY_LIMIT }
      scope.get(url, reference, (request, reply) => answer(request, reply, () => readQuery(request.query as RawQuery), true))
      scope.post(url, reference, (request, reply) => answer(request, reply, () => readBody((request.body as string | undefined) ?? ''), false))
      registerOtherMethods(scope, url, ['GET', 'POST'])
    }
  })
  return { answerDirectly: () => answerQueriesDirectly(app, node, rules, kept) }
}
