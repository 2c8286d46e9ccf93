// Existing records of a collection: each covers one row of a file, so that importing the file again adds nothing.
import { parseMinor } from '#core/money.ts'
import type { Tx } from '#db/schema.ts'
import type { NewRecord } from '../records/insert-records.ts'

interface ParkedRow {
  id: number
  /** whether the owner has placed or discarded the row */
  decided: boolean
}

const READ_AT_ONCE = 10_000

export class ExistingRecords {
  /** records by their current values, and by the imported row that created them, which later changes do not affect */
  readonly #byContent = new Map<string, number[]>()
  readonly #byImportKey = new Map<string, number[]>()
  readonly #taken = new Set<number>()
  readonly #parked = new Map<string, ParkedRow[]>()

  static async load(tx: Tx, collectionId: number): Promise<ExistingRecords> {
    const existing = new ExistingRecords()
    let last = 0
    for (;;) {
      const rows = await tx
        .selectFrom('collection_items')
        .select([
          'id',
          'item_id',
          'grade_id',
          'quantity',
          'purchase_price',
          'sale_price',
          'purchase_date',
          'card_uniq_id',
          'note',
          'certificate',
          'import_key',
        ])
        .where('collection_id', '=', collectionId)
        .where('id', '>', last)
        .orderBy('id')
        .limit(READ_AT_ONCE)
        .execute()
      for (const row of rows) {
        const content = contentKey({
          itemId: row.item_id,
          gradeId: row.grade_id,
          quantity: row.quantity,
          purchaseMinor: minorOf(row.purchase_price),
          saleMinor: minorOf(row.sale_price),
          purchaseDate: row.purchase_date,
          cardUniqId: row.card_uniq_id,
          note: row.note,
          certificate: row.certificate,
        })
        existing.#byContent.getOrInsertComputed(content, () => []).push(row.id)
        if (row.import_key !== null) existing.#byImportKey.getOrInsertComputed(row.import_key, () => []).push(row.id)
      }
      if (rows.length < READ_AT_ONCE) break
      last = rows.at(-1)!.id
    }
    const parked = await tx
      .selectFrom('collection_parked_rows')
      .select(['id', 'import_key', 'decision'])
      .where('collection_id', '=', collectionId)
      .orderBy('id')
      .execute()
    for (const { id, import_key, decision } of parked) {
      existing.#parked.getOrInsertComputed(import_key, () => []).push({ id, decided: decision !== null })
    }
    return existing
  }

  /** Whether a record that this row of a file created covers the row; marks the record as used, because a record covers one row. */
  takeByRow(importKey: string): boolean {
    return this.#take(this.#byImportKey.get(importKey))
  }

  /** Whether a record with the same current values covers the row; marks it as used. */
  takeByContent(record: NewRecord): boolean {
    return this.#take(this.#byContent.get(contentKey(record)))
  }

  /** The parked row that covers this row of a file; it then covers no other row. */
  takeParked(key: string): ParkedRow | undefined {
    return this.#parked.get(key)?.pop()
  }

  #take(ids: number[] = []): boolean {
    for (let id = ids.pop(); id !== undefined; id = ids.pop()) {
      if (this.#taken.has(id)) continue
      this.#taken.add(id)
      return true
    }
    return false
  }
}

type Content = Omit<NewRecord, 'collectionId' | 'ownerId' | 'importKey'>

function contentKey({ itemId, gradeId, quantity, purchaseMinor, saleMinor, purchaseDate, cardUniqId, note, certificate }: Content): string {
  const key = certificate ? `${certificate.grader} ${certificate.cert}` : null
  return JSON.stringify([itemId, gradeId, quantity, purchaseMinor, saleMinor, purchaseDate, cardUniqId, note, key])
}

function minorOf(amount: string | null): number | null {
  return amount === null ? null : parseMinor(amount)
}
