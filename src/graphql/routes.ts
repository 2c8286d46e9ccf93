// GraphQL over HTTP on the public listener: the gate, both media types, GET for queries only, and GraphiQL for browsers.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { addGate } from '#accounts/gate.ts'
import type { Keyring } from '#accounts/keyring.ts'
import type { RateLimits } from '#accounts/rate-limits.ts'
import type { Log } from '#core/context.ts'
import { ServiceError } from '#core/errors.ts'
import { publicContext, type PublicContextNode } from '#public-context.ts'
import type { RawQuery } from '#http/query.ts'
import { registerOtherMethods } from '#http/routes.ts'
import { answerError } from '#http/server.ts'
import { answerTo, type GraphqlRequest, type GraphqlRules } from './answer.ts'
import { Documents } from './documents.ts'
import { RequestRefused, serviceError } from './errors.ts'
import { addGraphiql, sendGraphiql } from './graphiql.ts'
import { KeptTexts } from './kept-texts.ts'
import { answerType, GRAPHQL_RESPONSE, JSON_TYPE, wantsPage } from './media-types.ts'
import { readBody, readQuery } from './request.ts'
import { buildSchema } from './schema.ts'

export interface GraphqlNode extends PublicContextNode {
  log: Log
  keys: Keyring
  limits: RateLimits | null
}

const PATHS = ['/graphql', '/graphql/v3']
const BODY_LIMIT = 128 * 1024

/** Adds the GraphQL endpoint to the public listener. */
export function addGraphql(app: FastifyInstance, node: GraphqlNode): void {
  const schema = buildSchema()
  const rules: GraphqlRules = {
    schema,
    documents: new Documents(schema),
    texts: new KeptTexts(),
    logged: (cause) => node.log.error({ err: cause }, 'A GraphQL field failed'),
  }
  const ctxOf = publicContext(node)
  const answer = (request: FastifyRequest, reply: FastifyReply, read: () => GraphqlRequest, readOnly: boolean) => {
    const type = answerType(request.headers.accept)
    if (!type) throw new ServiceError('NOT_ACCEPTABLE', `Answers are ${GRAPHQL_RESPONSE} or ${JSON_TYPE}`)
    reply.header('content-type', `${type}; charset=utf-8`)
    const refuse = (error: unknown) => {
      if (!(error instanceof RequestRefused)) throw error
      // By the specification, JSON answers to well-formed requests are 200 whatever became of the document.
      if (type === GRAPHQL_RESPONSE) reply.code(400)
      return JSON.stringify({ errors: error.errors, ...(error.extensions && { extensions: error.extensions }) })
    }
    try {
      const text = answerTo(read(), ctxOf(request), rules, readOnly)
      return typeof text === 'string' ? reply.send(Buffer.from(text)) : text.catch(refuse).then((done) => reply.send(done))
    } catch (error) {
      return reply.send(refuse(error))
    }
  }

  addGraphiql(app)
  app.register(async (scope) => {
    // Before the gate: the page needs no key, what it asks for does.
    scope.addHook('onRequest', (request, reply, done) => {
      if ((request.method === 'GET' || request.method === 'HEAD') && wantsPage(request.headers.accept)) sendGraphiql(reply)
      else done()
    })
    addGate(scope, node.keys, node.limits)
    scope.setErrorHandler((error, request, reply) => {
      answerError(node.log, error, request, reply, (answer) => ({ errors: [serviceError(answer)] }))
    })
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser(JSON_TYPE, { parseAs: 'string' }, (_request, body, done) => done(null, body))
    for (const url of PATHS) {
      const reference = { schema: { hide: true } as object, bodyLimit: BODY_LIMIT }
      scope.get(url, reference, (request, reply) => answer(request, reply, () => readQuery(request.query as RawQuery), true))
      scope.post(url, reference, (request, reply) => answer(request, reply, () => readBody((request.body as string | undefined) ?? ''), false))
      registerOtherMethods(scope, url, ['GET', 'POST'])
    }
  })
}
