// Returns the manifest of the newest dump.
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { type HasViewer, verb } from '#core/verb.ts'
import type { DumpCtx } from './maker.ts'
import { closed, type Dump } from './types.ts'

export const getDump = verb(
  { name: 'getDump', needs: OPERATION_PLAN.getDump, input: Type.Object({}, closed) },
  ({ dumps }: DumpCtx & HasViewer): Promise<Dump | null> => dumps.store.latest(),
)
