// The pages of the public listener for people: the developer's page and the changelog.
import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import type { Plan } from '#core/plans.ts'
import { shownTo } from '#http/demo-key.ts'
import { registerOtherMethods } from '#http/routes.ts'
import { homePage } from './home.ts'

export interface PagesNode {
  config: { publicUrl: string | null; rateLimits: Record<Plan, number> | null }
  /** key of the demo to show, null outside it */
  demoKey: string | null
}

const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
const CHANGELOG = new URL('../../CHANGELOG.md', import.meta.url)
const HOST = /^[\w.:[\]-]{1,255}$/

/** Adds `/` and `/changelog` to the public listener; `demoKey` is null where there is no demo. */
export function addPages(app: FastifyInstance, { config, demoKey }: PagesNode): void {
  const schema = { hide: true } as object
  app.get('/', { schema }, (request, reply) => {
    const host = request.headers.host ?? ''
    const url = config.publicUrl ?? `${request.protocol}://${HOST.test(host) ? host : 'localhost'}`
    if (demoKey !== null) reply.header('cache-control', 'no-store')
    reply.header('content-security-policy', POLICY).type('text/html; charset=utf-8')
    const shown = shownTo(request, demoKey)
    if (shown) reply.header('cache-control', 'no-store')
    return homePage({ url, demoKey: shown, rateLimits: config.rateLimits })
  })
  app.get('/changelog', { schema }, (_request, reply) => {
    reply.type('text/markdown; charset=utf-8')
    return readFileSync(CHANGELOG, 'utf8')
  })
  for (const path of ['/', '/changelog']) registerOtherMethods(app, path, ['GET'])
}
