// Resets the demo: deletes everything in its database and creates it again; refuses any database that is not the demo's.
import { sql } from 'kysely'
import type { WriteCtx } from '#db/changes/change.ts'
import { type Additions, addedToDemo } from '#db/demo-record.ts'
import { emptyDatabase, runExclusively } from '#db/emptiness.ts'
import { inTransaction } from '#db/connection/transaction.ts'
import type { Config } from '../../config.ts'
import { type DemoAccess, makeDemo, NoDemoError } from './make-demo.ts'

/** Names under which the connections of running services appear. */
const SERVICES = ['serve', 'api', 'operator', 'work'].map((role) => `mintmark ${role}`)

const NAMES: readonly [keyof Additions, one: string, several: string][] = [
  ['accounts', 'account', 'accounts'],
  ['items', 'item', 'items'],
  ['imports', 'import', 'imports'],
  ['people', 'person', 'people'],
]

/**
 * Deletes everything and creates the demo again.
 * @param options yes: also delete what others have added
 * @throws NoDemoError if the database does not contain the demo, contains more than the demo, or is in use by a service
 */
export function resetDemo(ctx: WriteCtx, config: Config, { yes = false } = {}): Promise<DemoAccess> {
  return runExclusively(ctx.db, async () => {
    const added = await addedToDemo(ctx.db.kysely)
    if (!added) throw new NoDemoError('Demo not reset: this database does not contain the demo')
    const others = inWords(added)
    if (others && !yes) throw new NoDemoError(`Demo not reset: the database also contains ${others}; add --yes to delete this too`)
    if (await isServed(ctx)) throw new NoDemoError('Demo not reset: a service is running on this database; stop it first')
    await inTransaction(ctx.db, (tx) => emptyDatabase(tx))
    return makeDemo(ctx, config)
  })
}

/** Such as `2 added accounts, 1 added import`; null if nothing was added. */
function inWords(added: Additions): string | null {
  const parts = NAMES.flatMap(([what, one, several]) => (added[what] > 0 ? [`${added[what]} added ${added[what] === 1 ? one : several}`] : []))
  return parts.length === 0 ? null : parts.join(', ')
}

/** A service shows the keys that it read when it started, and its worker writes. */
async function isServed({ db }: WriteCtx): Promise<boolean> {
  const { rows } = await sql<{ served: boolean }>`
    select exists (
      select from pg_stat_activity where datname = current_database() and (application_name = any(${SERVICES}) or application_name like 'mintmark process %')
    ) as served`.execute(db.kysely)
  return rows[0]!.served
}
