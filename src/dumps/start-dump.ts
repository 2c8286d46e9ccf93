// Starts a dump in the background.
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/changes/change.ts'
import { type DumpState, dumpState } from './get-dump-state.ts'
import type { DumpCtx } from './maker.ts'

export const startDump = verb(
  { name: 'startDump', needs: 'catalogue', input: Type.Object({}) },
  async (ctx: DumpCtx & WriteCtx): Promise<DumpState> => {
    let began = false
    return change(ctx, async (_tx, note) => {
      // The write may be retried after a deadlock. The result of the dump is visible in its state.
      if (!began) ctx.dumps.begin().finished.catch(() => {})
      began = true
      note.audit({ action: 'dump.start', subject: 'dump', id: ctx.now().toISOString() })
      return dumpState(ctx)
    })
  },
)
