// The OpenAPI documents of both listeners without a running service, for builds.
import { pino } from 'pino'
import { RequestCounts } from '#http/request-counts.ts'
import { readConfig } from '#config.ts'
import { operatorServer, type OperatorNode } from '#operator/server.ts'
import { publicServer, type PublicNode } from '#public.ts'

/** The documents as the listeners serve them at `https://cards.example`. */
export async function openApiDocuments(): Promise<{ api: object; operator: object }> {
  const config = readConfig({ PUBLIC_URL: 'https://cards.example', DATABASE_URL: 'postgres://nowhere.invalid/mintmark' })
  // Everything else is used only by requests, and none arrive.
  const node = { config, log: pino({ enabled: false }), requests: new RequestCounts(), images: null, demoKey: null }
  const [api, operator] = [await publicServer(node as unknown as PublicNode), await operatorServer(node as unknown as OperatorNode)]
  await operator.ready()
  const documents = { api: api.swagger(), operator: operator.swagger() }
  await Promise.all([api.close(), operator.close()])
  return documents
}
