// Returns the newest dump and the one in progress, for operators.
import { orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { textOf } from '#core/problems.ts'
import { type HasViewer, verb } from '#core/verb.ts'
import type { DumpCtx } from './maker.ts'
import { DumpSchema } from './dump-types.ts'

export const DumpStateSchema = Type.Object(
  {
    latest: orNull(DumpSchema, { description: 'Latest dump; null until the first one exists and while the store is unavailable' }),
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
      { description: 'The dump running on this node' },
    ),
    failure: orNull(Type.String(), { description: 'Why the last dump failed on this node' }),
    place: Type.String({ description: 'Folder or URL where dumps are stored' }),
    problem: orNull(Type.String(), { description: 'Why the store is currently unavailable' }),
  },
  { title: 'DumpState' },
)
export type DumpState = Static<typeof DumpStateSchema>

export const getDumpState = verb({ name: 'getDumpState', needs: 'operator', input: Type.Object({}) }, ({ dumps }: DumpCtx & HasViewer) =>
  dumpState({ dumps }),
)

/** The state shown to operators; an unavailable store is reported in it instead of as an error. */
export async function dumpState({ dumps: { store, progress } }: DumpCtx): Promise<DumpState> {
  const problem = await store.problem()
  return { latest: problem ? null : await store.latest(), ...progress, place: store.place, problem: problem && textOf(problem.why) }
}
