// Shared by the tests of collections: a small catalogue with prices, and collections of the accounts of a test node.
import { importText, OPERATOR_TOKEN, type Reply, send, type TestNode } from '../support/node.ts'

export interface CollectionRecord {
  id: number
  item_id: number
  item_name: string
  item_slug: string
  group_label: string | null
  quantity: number
  purchase_price: number | null
  sale_price: number | null
  purchase_date: string | null
  card_uniq_id: string | null
  note: string | null
  value?: { market: string; label: string; currency: string; price: number; amount: number; updated_at: string } | null
  cost?: { currency: string; amount: number } | null
  gain?: { currency: string; amount: number } | null
}

interface Made {
  ref: string
  name: string
  code?: string | null
  category?: string
  game?: string
  groups?: string[]
  finish?: string
  foreignIds?: { source: string; id: string; finish?: string }[]
  prices?: [market: string, label: string, price: string][]
}

/** Imports categories `set` (Base Set) and `op` (OP-07) with these items. @returns ids by ref */
export async function makeItems(node: TestNode, items: Made[]): Promise<Record<string, number>> {
  const category = { type: 'category', market: 'service', parent: null, image: null }
  const lines: object[] = [
    { ...category, ref: 'set', name: 'Base Set', game: 'pokemon' },
    { ...category, ref: 'jungle', name: 'Jungle', game: 'pokemon' },
    { ...category, ref: 'op', name: '500 Years in the Future [OP-07]', game: 'onepiece' },
  ]
  for (const item of items) {
    lines.push({
      type: 'item',
      market: 'service',
      ref: item.ref,
      name: item.name,
      code: item.code ?? null,
      genre: 'single',
      game: item.game ?? 'pokemon',
      category: item.category ?? 'set',
      images: [],
      attributes: item.finish ? [{ name: 'Finish', value: item.finish }] : [],
      groups: item.groups ?? ['ungraded', 'graded'],
      details: {},
      foreign_ids: item.foreignIds ?? [],
      prices: (item.prices ?? []).map(([market, label, price]) => ({
        market,
        label,
        price,
        updated_at: '2026-11-01T00:00:00Z',
      })),
    })
  }
  const report = await importText(node, 'mintmark-ndjson', lines.map((line) => JSON.stringify(line)).join('\n'))
  if (report.counts.rejected > 0) throw new Error(JSON.stringify(report.errors))
  const rows = await node.db.kysely.selectFrom('items').select(['id', 'ref']).execute()
  return Object.fromEntries(rows.map((row) => [row.ref, row.id]))
}

export async function makeCollection(node: TestNode, accountId: number, name = 'Mine'): Promise<number> {
  const created = await operator<{ id: number }>(node, 'POST', '/collections', { account_id: accountId, name })
  return created.body.data.id
}

export function operator<T = unknown>(node: TestNode, method: string, path: string, json?: unknown): Promise<Reply<T>> {
  return send<T>(`${node.operatorUrl}/operator/v1${path}`, OPERATOR_TOKEN, { method, json })
}

/** Requests to the collection endpoints with one account's key. */
export function collector(node: TestNode, key: string) {
  const ask = <T>(method: string, path: string, json?: unknown, headers: Record<string, string> = {}) =>
    send<T>(`${node.publicUrl}/api/v1/plus/collections${path}`, key, { method, json, headers })
  return {
    ask,
    list: async (collectionId: number, query = '') => (await ask<CollectionRecord[]>('GET', `/${collectionId}/items${query}`)).body.data,
    add: (collectionId: number, json: unknown, headers?: Record<string, string>) =>
      ask<Pick<CollectionRecord, 'id' | 'item_id' | 'item_name' | 'group_label' | 'quantity'>>('POST', `/${collectionId}/items`, json, headers),
    change: (collectionId: number, recordId: number | string, json: unknown, headers?: Record<string, string>) =>
      ask<Partial<CollectionRecord>>('PATCH', `/${collectionId}/items/${recordId}`, json, headers),
    remove: (collectionId: number, recordId: number | string, headers?: Record<string, string>) =>
      ask('DELETE', `/${collectionId}/items/${recordId}`, undefined, headers),
    count: async (collectionId: number) => {
      const { body } = await ask<{ id: number; items_count: number }[]>('GET', '')
      return body.data.find((collection) => collection.id === collectionId)!.items_count
    },
  }
}
