// Change feed and dumps of the catalogue, as under /changes and /dumps over REST.
import { type Change, type ChangePage, listChanges } from '#catalogue/list-changes.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { call } from '#core/verb.ts'
import type { Dump, DumpFile } from '#dumps/types.ts'
import { withoutNulls } from '../building/arguments.ts'
import { type Builder, cost, fromDatabase, requiresPlan } from '../building/builder.ts'
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
  const change = builder.objectRef<Change>('Change').implement({
    description: 'A change in the catalogue.',
    fields: (t) => ({
      cursor: t.exposeString('cursor', { nullable: false, description: 'Pass it as `after` to continue after this change.' }),
      kind: t.exposeString('kind', {
        nullable: false,
        description: '`item`, `category`, `price`, `merge` (the item `id` was merged into `itemId`) or `delete`.',
      }),
      id: t.exposeID('id', { nullable: false, description: 'Id of the item or category.' }),
      itemId: t.id({ description: 'Id of the item; null for categories.', resolve: ({ item_id }) => item_id }),
      market: t.exposeString('market', { description: 'Market of a price.' }),
      label: t.exposeString('label', { description: 'Condition or grade of a price.' }),
      at: t.exposeString('at', { nullable: false, description: 'When it was written, UTC.' }),
    }),
  })
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

export function addDumpType(builder: Builder) {
  const file = builder.objectRef<DumpFile>('DumpFile').implement({
    description: 'A file of a dump; download it over REST.',
    fields: (t) => ({
      name: t.exposeString('name', { nullable: false, description: 'Path below `/api/v1/dumps/`.' }),
      rows: t.exposeInt('rows', { nullable: false, description: 'Rows in it.' }),
      bytes: t.exposeFloat('bytes', { nullable: false, description: 'Its size.' }),
      sha256: t.exposeString('sha256', { nullable: false, description: 'SHA-256 of the file, in hexadecimal.' }),
    }),
  })
  return builder.objectRef<Dump>('Dump').implement({
    description: 'Categories, items, prices and price points from one point in time.',
    fields: (t) => ({
      asOf: t.exposeString('as_of', { nullable: false, description: 'Time of the snapshot, UTC.' }),
      changeCursor: t.exposeString('change_cursor', { nullable: false, description: 'Pass it to `changes` as `after`.' }),
      files: t.field({
        type: [file],
        nullable: false,
        description: 'Each table as NDJSON (gzip) and as Parquet.',
        extensions: cost({ entries: DUMP_FILES }),
        resolve: ({ files }) => files,
      }),
    }),
  })
}

/** The cost of a manifest: a year of price points, and the other tables. */
const DUMP_FILES = 30
