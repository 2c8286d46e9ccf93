// Returns the manifest of the newest dump.
import { ServiceError } from '#core/errors.ts'
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { reason } from '#core/problems.ts'
import { type HasViewer, verb } from '#core/verb.ts'
import type { Db } from '#db/schema.ts'
import type { DumpCtx } from './maker.ts'
import { missingDump } from './published-dump.ts'
import type { Dump } from './dump-types.ts'

export const getDump = verb(
  { name: 'getDump', needs: OPERATION_PLAN.getDump, input: Type.Object({}) },
  async ({ dumps: { store }, db }: DumpCtx & HasViewer & { db: Db }): Promise<Dump | null> => {
    const latest = await store.latest()
    // Without a check, clients of a node with a folder of its own would wait for a dump that exists elsewhere.
    if (!latest && (await missingDump(db.kysely, store))) throw new ServiceError('UNAVAILABLE', reason('dump_elsewhere'))
    return latest
  },
)
