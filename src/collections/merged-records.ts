// Collection records follow their item when items are merged, unchanged: a collection may contain two copies of one card.
import type { MovedRows } from '#db/merge-pairs.ts'

export const RECORDS: MovedRows = { rows: 'collection_items', moved: 'merged_records', id: 'record_id' }
