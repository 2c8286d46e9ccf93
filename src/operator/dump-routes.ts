// Operator API: dumps of the catalogue, created every night and on demand.
import type { WriteCtx } from '#db/changes/change.ts'
import { type DumpState, DumpStateSchema, getDumpState } from '#dumps/get-dump-state.ts'
import type { DumpCtx } from '#dumps/maker.ts'
import { startDump } from '#dumps/start-dump.ts'
import type { Route } from '#http/route.ts'

const tag = 'Catalogue'

export const dumpRoutes: Route<DumpCtx & WriteCtx>[] = [
  {
    method: 'GET',
    path: '/dumps',
    verb: getDumpState,
    summary: 'Read the latest dump and the progress of a running one',
    tag,
    answer: (state: DumpState) => ({ data: state }),
    data: DumpStateSchema,
  },
  {
    method: 'POST',
    path: '/dumps',
    verb: startDump,
    summary: 'Start a dump',
    description: 'The dump runs in the background; `GET /dumps` returns its progress.',
    tag,
    status: 202,
    answer: (state: DumpState) => ({ data: state, message: 'Dump started' }),
    data: DumpStateSchema,
    errors: ['CONFLICT'],
  },
]
