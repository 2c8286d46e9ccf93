// A catalogue of one item, for tests that do not depend on its content.
import { importText, type TestNode } from './node.ts'

const FEED = [
  { type: 'category', market: 'service', ref: 't', name: 'Set', game: 'pokemon', parent: null, image: null },
  {
    type: 'item',
    market: 'service',
    ref: 't:1',
    name: 'Only Item',
    code: '1/1',
    genre: 'single',
    game: 'pokemon',
    category: 't',
    images: [],
    attributes: [],
    groups: ['ungraded'],
    details: {},
    foreign_ids: [],
  },
]

/** Imports the item. @returns its id */
export async function importOneItem(node: TestNode): Promise<number> {
  await importText(node, 'mintmark-ndjson', FEED.map((line) => JSON.stringify(line)).join('\n'))
  return (await node.db.kysely.selectFrom('items').select('id').executeTakeFirstOrThrow()).id
}
