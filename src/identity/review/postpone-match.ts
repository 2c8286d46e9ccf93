// Postpones a match: it stays pending, but is listed separately.
import { sql } from 'kysely'
import { lockIdentity } from '#catalogue/records/identity-lock.ts'
import { conflict } from '#core/errors.ts'
import { existing, id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { actorOf, change, type WriteCtx } from '#db/changes/change.ts'
import { namedRecords, notQueuedError } from './decide-match.ts'
import { fetchMatch, type Match } from './matches.ts'

export const postponeMatch = verb({ name: 'postponeMatch', needs: 'catalogue', input: Type.Object({ id: id('match') }) }, (ctx: WriteCtx, { id }) =>
  change(ctx, async (tx, note): Promise<Match> => {
    await lockIdentity(tx)
    const { rows } = await sql<{ record_id: number }>`
        update match_queue set postponed = true where id = ${existing('match', id)} and not postponed returning record_id`.execute(tx)
    if (!rows[0]) {
      const waits = await tx.selectFrom('match_queue').select('id').where('id', '=', id).executeTakeFirst()
      throw waits ? conflict('already', { thing: 'match', state: 'postponed' }) : await notQueuedError(tx, id)
    }
    const [record] = await namedRecords(tx, [rows[0].record_id])
    await sql`insert into match_decisions (kind, a, author, decided_at) values ('postponed', ${record!.key}, ${actorOf(ctx.viewer)}, ${note.at})
      on conflict do nothing`.execute(tx)
    const match = await fetchMatch(tx, id)
    note.audit({ action: 'match.postpone', subject: 'match', id, after: { record: match.record.ref } })
    return match
  }),
)
