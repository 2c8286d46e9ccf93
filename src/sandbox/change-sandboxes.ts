// Creates, lists, reads, resets and deletes the sandboxes of an account.
import { hashKey, last4, newKey } from '#accounts/credentials/key-format.ts'
import { type KeyScope, NO_SCOPE } from '#accounts/credentials/key-scope.ts'
import { conflict, invalid } from '#core/errors.ts'
import { existing, id, missing, moment, momentOf } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { OPERATION_PLAN, type Plan } from '#core/plans.ts'
import type { MessageText } from '#core/problem-texts/messages.ts'
import { ownAccount, verb, type Viewer } from '#core/verb.ts'
import { change, earlierResult } from '#db/changes/change.ts'
import { writeVerb } from '#db/changes/write-verb.ts'
import { inTransaction } from '#db/connection/transaction.ts'
import type { Queryable } from '#db/schema.ts'
import { afterWork } from './advance-sandbox.ts'
import { fillWorld, type Owner } from './sample.ts'
import { type SandboxCtx, sandboxesOf, worldOf } from './sandbox-context.ts'
import { deleteSandboxRow, findSandbox, insertSandbox, markReady, sandboxOf, sandboxesOfAccount, type SandboxRow } from './sandbox-store.ts'
import type { NewSandbox, Sandbox } from './sandbox-types.ts'
import { MAX_OF_ACCOUNT, type Sandboxes } from './sandboxes.ts'

/** Starts of sandboxes: the sample's prices and rates can be given for each of these days. */
const EARLIEST = '2020-01-01'
const LATEST = '2099-12-31'
const MAX_SEED = 2 ** 31 - 1

export const createSandbox = writeVerb(
  {
    name: 'createSandbox',
    needs: OPERATION_PLAN.createSandbox,
    keys: 'live',
    secret: true,
    rehearsable: false,
    input: Type.Object({
      at: Type.Optional(moment(`The time at which it starts, from ${EARLIEST} to ${LATEST}; default: now`)),
      seed: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: MAX_SEED,
          default: 1,
          description: 'By which its listings are chosen: the same start and seed give the same sandbox',
        }),
      ),
    }),
  },
  async (ctx: SandboxCtx, { at, seed = 1 }): Promise<NewSandbox> => {
    const sandboxes = sandboxesOf(ctx)
    const startsAt = at === undefined ? ctx.now() : startOf(at)
    const earlier = await earlierResult<NewSandbox>(ctx)
    if (earlier) return earlier
    const key = newKey('test')
    const owner = await ownerOf(ctx.viewer, ctx.db.kysely, key)
    const { row, created } = await build(ctx, sandboxes, owner, { startsAt, seed })
    const result = { ...sandboxOf({ ...row, status: 'ready' }), key }
    try {
      // Stored last: a request that is repeated gets a sandbox that exists.
      const answered = await change(ctx, async (tx, note): Promise<NewSandbox> => {
        if (!(await markReady(tx, row.id))) throw missing('account', owner.accountId)
        note.audit({ action: 'sandbox.create', subject: 'sandbox', id: row.id, after: { starts_at: result.starts_at, seed } })
        return result
      })
      if (answered.id !== row.id) await created.undo()
      return answered
    } catch (error) {
      await created.undo()
      throw error
    }
  },
)

function startOf(at: string): Date {
  const start = momentOf('at', at)
  if (start < new Date(EARLIEST) || start >= new Date(`${LATEST}T23:59:59Z`)) {
    throw invalid('at', 'time', { from: EARLIEST, to: LATEST, example: '2027-01-31T12:00:00Z', value: at })
  }
  return start
}

/** Builds a sandbox that nobody can use yet. @throws CONFLICT if there are too many, or the role may not create databases; NOT_FOUND if it is deleted meanwhile */
async function build(ctx: SandboxCtx, sandboxes: Sandboxes, owner: Owner, { startsAt, seed }: { startsAt: Date; seed: number }) {
  const { accountId, hash, last4: shown } = owner
  const values = { accountId, hash, last4: shown, startsAt, seed, createdAt: ctx.now() }
  const limits = { ofAccount: MAX_OF_ACCOUNT, ofService: sandboxes.max }
  const row = await inTransaction(ctx.db, (tx) => insertSandbox(tx, values, limits))
  if (row === 'account') throw conflict('sandboxes_full', { max: MAX_OF_ACCOUNT })
  if (row === 'service') throw sandboxes.max === 0 ? conflict('sandboxes_off') : conflict('sandboxes_of_service', { max: sandboxes.max })
  const undo = async () => {
    const deleted = await deleteSandboxRow(ctx.db.kysely, row.id, null)
    await sandboxes.remove(row).catch(() => {})
    return deleted !== null
  }
  try {
    await sandboxes.build(row, (world) => fillWorld(world, owner, seed))
  } catch (error) {
    // Deleted while it was built, which ended the connections to its database.
    throw (await undo()) ? error : missing('sandbox', row.id)
  }
  return { row, created: { undo } }
}

/** The account, and the restrictions of the key that creates the sandbox: its test key has the same, so that it is not of more use to others. */
async function ownerOf(viewer: Viewer, on: Queryable, key: string): Promise<Owner> {
  if (viewer.kind !== 'account') throw new Error('Only accounts have sandboxes')
  const { accountId, keyId, plan } = viewer
  const scope = await on
    .selectFrom('api_key_scopes')
    .select(['allowed_origins', 'allowed_addresses', 'strict'])
    .where('key_id', '=', keyId)
    .executeTakeFirst()
  return { accountId, plan, hash: hashKey(key), last4: last4(key), scope: { ...NO_SCOPE, ...scope } }
}

export const listSandboxes = verb(
  { name: 'listSandboxes', needs: OPERATION_PLAN.listSandboxes, input: Type.Object({}) },
  async (ctx: SandboxCtx): Promise<Sandbox[]> => {
    if (ctx.world) return [sandboxOf(await ctx.world.home.row(ctx.world.id))]
    return (await sandboxesOfAccount(ctx.db.kysely, ownAccount(ctx.viewer))).map(sandboxOf)
  },
)

export const getSandbox = verb(
  { name: 'getSandbox', needs: OPERATION_PLAN.getSandbox, keys: 'live', input: Type.Object({ id: id('sandbox') }) },
  async (ctx: SandboxCtx, { id }): Promise<Sandbox> => {
    const row = await findSandbox(ctx.db.kysely, existing('sandbox', id), ownAccount(ctx.viewer))
    if (!row) throw missing('sandbox', id)
    return sandboxOf(row)
  },
)

export const deleteSandbox = writeVerb(
  { name: 'deleteSandbox', needs: OPERATION_PLAN.deleteSandbox, keys: 'live', input: Type.Object({ id: id('sandbox') }), rehearsable: false },
  async (ctx: SandboxCtx, { id }): Promise<{ message: MessageText }> => {
    await removeSandbox(ctx, sandboxesOf(ctx), id, ownAccount(ctx.viewer))
    return { message: 'Sandbox deleted' }
  },
)

/** Deletes a sandbox with all its data. @param accountId of its owner; null: of any account */
export async function removeSandbox(
  ctx: Pick<SandboxCtx, 'db' | 'viewer' | 'now' | 'requestId' | 'idempotency' | 'caughtUp'>,
  sandboxes: Pick<Sandboxes, 'remove'>,
  id: number,
  accountId: number | null,
): Promise<void> {
  const row = await change(ctx, async (tx, note): Promise<Pick<SandboxRow, 'id' | 'generation'>> => {
    const deleted = await deleteSandboxRow(tx, existing('sandbox', id), accountId)
    if (!deleted) throw missing('sandbox', id)
    note.audit({ action: 'sandbox.delete', subject: 'sandbox', id })
    return { id: deleted.id, generation: deleted.generation }
  })
  await sandboxes.remove(row)
}

export const resetSandbox = writeVerb(
  { name: 'resetSandbox', needs: OPERATION_PLAN.resetSandbox, keys: 'test', input: Type.Object({}), rehearsable: false },
  async (ctx: SandboxCtx): Promise<Sandbox> => {
    const world = worldOf(ctx)
    const earlier = await earlierResult<Sandbox>(ctx)
    if (earlier) return earlier
    const kept = await testKeyOf(world.db.kysely, world.accountId)
    const { viewer } = ctx
    const plan: Plan = viewer.kind === 'account' ? viewer.plan : 'plus'
    const done = world.home.work(world.id, (work) =>
      world.home.replace(work, async (fresh) => {
        await fillWorld(fresh, { accountId: world.accountId, plan, ...kept }, work.row.seed)
        // The new database knows the request, too: repeated, it changes nothing.
        const result = sandboxOf({ ...work.row, status: 'ready', now: work.row.starts_at, problem: null, fired: [], fired_total: 0 })
        await change({ ...ctx, db: fresh.db, now: fresh.clock.now, caughtUp: fresh.catchUp }, async () => result)
      }),
    )
    return afterWork(world, done)
  },
)

/** The test key stays the same. */
async function testKeyOf(on: Queryable, accountId: number): Promise<Pick<Owner, 'hash' | 'last4' | 'scope'>> {
  const keys = on.selectFrom('api_keys as k').leftJoin('api_key_scopes as s', 's.key_id', 'k.id')
  const row = await keys
    .select(['k.hash', 'k.last4', 's.allowed_origins', 's.allowed_addresses', 's.strict'])
    .where('k.account_id', '=', accountId)
    .orderBy('k.id')
    .executeTakeFirstOrThrow()
  const { hash, last4, allowed_origins, allowed_addresses, strict } = row
  const scope: KeyScope = {
    ...NO_SCOPE,
    ...(allowed_origins && { allowed_origins }),
    ...(allowed_addresses && { allowed_addresses }),
    ...(strict && { strict }),
  }
  return { hash, last4, scope }
}
