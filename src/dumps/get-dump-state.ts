// The newest dump and the one that is being made, for operators.
import { orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { type HasViewer, verb } from '#core/verb.ts'
import type { DumpCtx } from './maker.ts'
import { closed, DumpSchema } from './types.ts'

export const DumpStateSchema = Type.Object(
  {
    latest: orNull(DumpSchema, { description: 'The newest dump; null before the first, and while the store cannot be used' }),
    running: orNull(
      Type.Object(
        {
          started_at: Type.String({ format: 'date-time' }),
          tables: Type.Integer({ description: 'Tables written so far' }),
          of: Type.Integer({ description: 'Total tables; 0 until they are counted' }),
          rows: Type.Integer({ description: 'Rows written so far' }),
        },
        { title: 'RunningDump' },
      ),
      { description: 'The dump that this node is making' },
    ),
    failure: orNull(Type.String(), { description: 'Why the last one failed on this node' }),
    place: Type.String({ description: 'Folder or address at which dumps are kept' }),
    problem: orNull(Type.String(), { description: 'Why the store cannot be used now' }),
  },
  { title: 'DumpState' },
)
export type DumpState = Static<typeof DumpStateSchema>

export const getDumpState = verb({ name: 'getDumpState', needs: 'operator', input: Type.Object({}, closed) }, ({ dumps }: DumpCtx & HasViewer) =>
  dumpState({ dumps }),
)

/** The state as operators see it; a store that cannot be used is a part of it, not an error. */
export async function dumpState({ dumps: { store, progress } }: DumpCtx): Promise<DumpState> {
  const problem = await store.problem()
  return { latest: problem ? null : await store.latest(), ...progress, place: store.place, problem: problem?.message ?? null }
}
