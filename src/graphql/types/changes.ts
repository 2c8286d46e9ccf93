// Change feed and dumps of the catalogue, as under /changes and /dumps over REST.
import { type ChangePage, ChangeSchema, listChanges } from '#catalogue/list-changes.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { call } from '#core/verb.ts'
import { DumpFileSchema, DumpSchema } from '#dumps/dump-types.ts'
import { withoutNulls } from '../building/arguments.ts'
import { type Builder, cost, fromDatabase, requiresPlan } from '../building/builder.ts'
import { objectFrom } from '../building/from-schema.ts'
import type { GraphqlCtx } from '../execution/context.ts'

export interface ChangesArgs {
  after?: string | null
  kinds?: readonly string[] | null
  wait?: number | null
  limit?: number | null
}

/** A read of the change log in the database, which may examine thousands of entries for one of a rare kind. */
export const CHANGES_READ = {
  ...cost({ weight: 500, first: { default: 100, max: 1_000, argument: 'limit' } }),
  ...fromDatabase,
  ...requiresPlan(OPERATION_PLAN.listChanges),
}

/** @throws VALIDATION_ERROR, CURSOR_EXPIRED as over REST */
export function changesOf({ kinds, ...args }: ChangesArgs, ctx: GraphqlCtx): Promise<ChangePage> {
  return call(listChanges, ctx, { ...withoutNulls(args), ...(kinds && kinds.length > 0 && { kinds: kinds.join(',') }) })
}

export function addChangePageType(builder: Builder) {
  const change = objectFrom(builder, ChangeSchema, { description: 'A change in the catalogue.', omit: ['data'] })
  return builder.objectRef<ChangePage>('ChangePage').implement({
    description: 'Changes in the catalogue, in commit order, each object once.',
    fields: (t) => ({
      changes: t.field({
        type: [change],
        nullable: false,
        description: 'Changes on the page.',
        extensions: cost({ ofPage: true }),
        resolve: ({ changes }) => changes,
      }),
      next: t.exposeString('next', { nullable: false, description: 'Pass it as `after` to continue.' }),
      more: t.exposeBoolean('more', {
        nullable: false,
        description: 'Whether to continue at once: with `kinds`, a page may be empty although changes follow it.',
      }),
    }),
  })
}

/** A manifest has a year of price points, and the other tables. */
const DUMP_FILES = 30

export function addDumpType(builder: Builder) {
  objectFrom(builder, DumpFileSchema, { types: { bytes: 'Float' } })
  return objectFrom(builder, DumpSchema, { entries: { files: DUMP_FILES } })
}
