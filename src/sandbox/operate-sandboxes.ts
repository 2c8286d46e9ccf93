// The sandboxes of all accounts, as operators see them.
import { sql } from 'kysely'
import { id } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { listVerb } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import type { ReadCtx, WriteCtx } from '#db/changes/change.ts'
import { removeSandbox } from './change-sandboxes.ts'
import { rowsOfSandboxes, sandboxOf } from './sandbox-store.ts'
import { SandboxSchema } from './sandbox-types.ts'
import type { Sandboxes } from './sandboxes.ts'

const { fired: _fired, ...Shown } = SandboxSchema.properties

export const StoredSandboxSchema = Type.Object(
  {
    ...Shown,
    account_id: Type.Integer({ description: 'Account that it belongs to' }),
    account_name: Type.String({ description: 'Name of the account' }),
  },
  { title: 'StoredSandbox' },
)
export type StoredSandbox = Static<typeof StoredSandboxSchema>

export interface OperateSandboxesCtx extends WriteCtx {
  sandboxes: Pick<Sandboxes, 'remove'>
}

export const listStoredSandboxes = listVerb(
  { name: 'listStoredSandboxes', needs: 'operator', filters: {} },
  async ({ db }: ReadCtx, _filters, { limit, offset }) => {
    const rows = await rowsOfSandboxes(db.kysely, limit, offset)
    const { rows: counts } = await sql<{ total: number }>`select count(*)::int as total from sandboxes`.execute(db.kysely)
    const shown = rows.map(({ account_name, ...row }): StoredSandbox => {
      const { fired: _fired, ...sandbox } = sandboxOf(row)
      return { ...sandbox, account_id: row.account_id, account_name }
    })
    return { rows: shown, total: counts[0]!.total }
  },
)

export const removeStoredSandbox = verb(
  { name: 'removeStoredSandbox', needs: 'support', input: Type.Object({ id: id('sandbox') }) },
  (ctx: OperateSandboxesCtx, { id }) => removeSandbox(ctx, ctx.sandboxes, id, null),
)
