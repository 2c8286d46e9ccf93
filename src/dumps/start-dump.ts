// Begins a dump, which is made while its caller goes on.
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/change.ts'
import { type DumpState, dumpState } from './get-dump-state.ts'
import type { DumpCtx } from './maker.ts'
import { closed } from './types.ts'

export const startDump = verb(
  { name: 'startDump', needs: 'operator', input: Type.Object({}, closed) },
  async (ctx: DumpCtx & WriteCtx): Promise<DumpState> => {
    // What becomes of it is told by its state.
    ctx.dumps.begin().made.catch(() => {})
    const { started_at } = ctx.dumps.progress.running!
    await change(ctx, async (_tx, note) => note.audit({ action: 'dump.start', subject: 'dump', id: started_at }))
    return dumpState(ctx)
  },
)
