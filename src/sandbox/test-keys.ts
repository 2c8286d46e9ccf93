// Requests with test keys: each is passed on, whole, to the sandbox of its key.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { hashKey, isWellFormed } from '#accounts/credentials/key-format.ts'
import type { TestKeys } from '#accounts/keys/gate.ts'
import type { FailedAuthentications } from '#accounts/limits/failed-authentications.ts'
import { ServiceError } from '#core/errors.ts'
import { reason } from '#core/problems.ts'
import { findByHash, noteUse } from './sandbox-store.ts'
import type { Sandboxes } from './sandboxes.ts'
import { refuseLarge } from './size-limit.ts'

const BEARER = /^Bearer +(\S+) *$/i
const RESET = /^\/api\/v1\/sandbox\/reset(?:\?|$)/
const READS = new Set(['GET', 'HEAD', 'OPTIONS'])

/** @param failures of API keys: guesses of test keys are counted with those of others */
export function testKeys(sandboxes: Sandboxes, failures: FailedAuthentications): TestKeys {
  const { db } = sandboxes
  const refused = (request: FastifyRequest, state: 'malformed' | 'unknown') =>
    failures.refuse(request, reason('credential', { credential: 'API key', state }))
  return {
    async pass(request: FastifyRequest, reply: FastifyReply): Promise<void> {
      const key = BEARER.exec(request.headers.authorization ?? '')?.[1]
      if (key === undefined || !isWellFormed(key, 'test')) {
        failures.check(request)
        throw refused(request, 'malformed')
      }
      const valid = failures.admitLookup(request)
      const found = await findByHash(db, hashKey(key), sandboxes.now())
      if (!found) throw refused(request, 'unknown')
      valid()
      if (found.suspended) throw new ServiceError('ACCOUNT_SUSPENDED', reason('account_suspended'))
      const writes = !READS.has(request.method)
      if (writes && found.status === 'advancing') throw new ServiceError('SANDBOX_BUSY', reason('sandbox_busy'))
      if (found.is_due) await noteUse(db, found.id, sandboxes.now())
      await sandboxes.use(found, async (world) => {
        await world.usePlan(found.plan)
        if (writes && !RESET.test(request.url)) await refuseLarge(world)
        reply.hijack()
        // Its responses are marked, so they are sent as text.
        delete request.raw.headers['accept-encoding']
        await new Promise<void>((resolve) => {
          reply.raw.once('close', resolve)
          world.handle(request.raw, reply.raw)
        })
      })
    },
  }
}
