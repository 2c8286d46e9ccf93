// Sets the evidence of a current price like the evidence rules do: the columns, and the log entry that updates every node.
import { sql } from 'kysely'
import { type Market, MARKETS } from '#core/markets.ts'
import { change } from '#db/changes/change.ts'
import { type EvidenceChange, packEvidence } from '#prices/evidence/evidence-payload.ts'
import { CONFIDENCES, STATES } from '#prices/evidence/evidence-types.ts'
import type { TestNode } from './node.ts'

/** Amounts in minor units; fields that are not set are those of a price without evidence. */
export async function setEvidence(
  node: Pick<TestNode, 'ctx' | 'db'>,
  key: { itemId: number; market: Market; label: string },
  evidence: Partial<Omit<EvidenceChange, 'itemId' | 'market' | 'labelId'>> & { line?: number },
): Promise<void> {
  const { id: labelId } = await node.db.kysely
    .selectFrom('groups')
    .select('id')
    .where('name', '=', key.label)
    .where('parent_id', 'is not', null)
    .executeTakeFirstOrThrow()
  const none = {
    state: 'trusted',
    confidence: 'insufficient',
    flags: 0,
    confirmedAtMs: null,
    avg7: null,
    avg30: null,
    low: null,
    high: null,
  } as const
  const { line = null, ...known } = evidence
  const all: EvidenceChange = { itemId: key.itemId, market: MARKETS.indexOf(key.market), labelId, ...none, ...known }
  const amount = (minor: number | null) => sql`${minor}::numeric / 100`
  await change(node.ctx, async (tx, note) => {
    const { rows } = await sql`
      update prices set state = ${STATES.indexOf(all.state)}, confidence = ${CONFIDENCES.indexOf(all.confidence)}, flags = ${all.flags},
        confirmed_at = ${all.confirmedAtMs === null ? null : new Date(all.confirmedAtMs)}, line = ${line},
        avg_7 = ${amount(all.avg7)}, avg_30 = ${amount(all.avg30)}, low = ${amount(all.low)}, high = ${amount(all.high)}
      where item_id = ${all.itemId} and market = ${all.market} and label_id = ${labelId} returning 1`.execute(tx)
    if (rows.length !== 1) throw new Error(`Item ${all.itemId} has no such price`)
    await note.changedEvidence(packEvidence([all]))
  })
}
