// A listener of its own for /metrics, so that nodes without the operator API can be monitored, on a port that clients cannot reach.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { addGate } from '#accounts/keys/gate.ts'
import type { Keyring } from '#accounts/keys/keyring.ts'
import type { Log } from '#core/context.ts'
import { registerOtherMethods } from '#http/routes.ts'
import { createServer } from '#http/server.ts'
import { readStats } from '#stats/read-stats.ts'
import { mergeMetrics } from './metrics.ts'

interface MetricsNode {
  config: { trustProxy: boolean | string }
  log: Log
  operators: Keyring
  /** metrics of this process, and of the other serving processes on this machine */
  processMetrics: () => Promise<string[]>
}

const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** Builds the server; the caller listens and closes. Like the operator API's `/metrics`, it needs an operator token. */
export async function metricsServer(node: MetricsNode): Promise<FastifyInstance> {
  const app = createServer({ log: node.log, trustProxy: node.config.trustProxy })
  await app.register(async (scope) => addMetrics(scope, node.operators, node.processMetrics))
  return app
}

/** Adds `GET /metrics` to a scope of its own. @param render one text per process, and that of the service */
export function addMetrics(scope: FastifyInstance, operators: Keyring, render: (request: FastifyRequest) => Promise<string[]>): void {
  addGate(scope, operators, null)
  scope.get('/metrics', { schema: { hide: true }, config: { operation: readStats } }, async (request, reply) => {
    reply.type(CONTENT_TYPE)
    return mergeMetrics(await render(request))
  })
  registerOtherMethods(scope, '/metrics', ['GET'])
}
