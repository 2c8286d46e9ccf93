// The newest dump and the one that is being made, for operators.
import { orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { type HasViewer, verb } from '#core/verb.ts'
import type { DumpCtx } from './maker.ts'
import { closed, DumpSchema } from './types.ts'

export const DumpStateSchema = Type.Object(
  {
    latest: orNull(DumpSchema, { description: 'The newest dump' }),
    running: orNull(
      Type.Object(
        {
          started_at: Type.String({ format: 'date-time' }),
          tables: Type.Integer({ description: 'Tables that are written' }),
          of: Type.Integer({ description: 'Tables in all, 0 until they are counted' }),
          rows: Type.Integer({ description: 'Rows that are written' }),
        },
        { title: 'RunningDump' },
      ),
      { description: 'The dump that this node is making' },
    ),
    failure: orNull(Type.String(), { description: 'Why the last one failed on this node' }),
  },
  { title: 'DumpState' },
)
export type DumpState = Static<typeof DumpStateSchema>

export const getDumpState = verb({ name: 'getDumpState', needs: 'operator', input: Type.Object({}, closed) }, ({ dumps }: DumpCtx & HasViewer) =>
  dumpState({ dumps }),
)

export async function dumpState({ dumps }: DumpCtx): Promise<DumpState> {
  return { latest: await dumps.store.latest(), ...dumps.progress }
}
