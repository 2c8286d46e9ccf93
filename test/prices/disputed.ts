// Prices of an item that contradict each other.
import { bitsOf, STATES } from '#prices/evidence/types.ts'
import type { TestNode } from '../support/node.ts'

/** Marks all prices of an item, but those of the service, as disputed by those of other markets. */
export async function dispute(node: TestNode, itemId: number): Promise<void> {
  await node.db.pool.query('update prices set state = $1, flags = $2 where item_id = $3 and market > 0', [
    STATES.indexOf('disputed'),
    bitsOf(['other_markets']),
    itemId,
  ])
}
