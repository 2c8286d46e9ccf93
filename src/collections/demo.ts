// Collections of a demo account, built from the sample catalogue: a binder, graded cards and sealed products.
import { DAY_MS } from '#core/duration.ts'
import { call } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/changes/change.ts'
import type { StoredCertificate } from '#db/schema.ts'
import { createCollection } from './create-collection.ts'
import { insertRecords, type NewRecord } from './records/insert-records.ts'

interface DemoItem {
  id: number
  genre: string
  /** ids of the suitable grades, by label */
  grades: Map<string, number>
}

interface DemoCollection {
  name: string
  description: string
  visibility: 'private' | 'unlisted' | 'public'
  genre: string
  size: number
  labels: string[]
}

const COLLECTIONS: readonly DemoCollection[] = [
  {
    name: 'Binder',
    description: 'Cards as they came out of packs.',
    visibility: 'private',
    genre: 'single',
    size: 60,
    labels: ['Near Mint', 'Lightly Played', 'Ungraded', 'Moderately Played'],
  },
  {
    name: 'Slabs',
    description: 'Graded cards.',
    visibility: 'public',
    genre: 'single',
    size: 12,
    labels: ['PSA 10', 'CGC 10', 'PSA 9'],
  },
  {
    name: 'Sealed',
    description: 'Never to be opened.',
    visibility: 'unlisted',
    genre: 'sealed',
    size: 8,
    labels: ['Near Mint'],
  },
]

/** Time between two purchases of the demo. */
const DAYS_APART = 9

/** Creates and fills the collections, always with the same items, grades and amounts. @returns their ids */
export async function addDemoCollections(ctx: WriteCtx, accountId: number): Promise<number[]> {
  const items = await demoItems(ctx)
  const ids: number[] = []
  for (const { genre, size, labels, ...fields } of COLLECTIONS) {
    const collection = await call(createCollection, ctx, { account_id: accountId, ...fields })
    const ofGenre = items.filter((item) => item.genre === genre)
    const every = Math.max(1, Math.floor(ofGenre.length / size))
    const picked = ofGenre.filter((_item, i) => i % every === 0).slice(0, size)
    const records = picked.map((item, i) => demoRecord(collection.id, item, labels[i % labels.length]!, i, ctx.now()))
    await change(ctx, (tx, { at }) => insertRecords(tx, records, at))
    ids.push(collection.id)
  }
  return ids
}

function demoRecord(collectionId: number, item: DemoItem, label: string, i: number, now: Date): NewRecord {
  const certificate = demoCertificate(label, i)
  const hasSeveral = certificate === null && i % 7 === 0
  return {
    collectionId,
    ownerId: null,
    itemId: item.id,
    gradeId: item.grades.get(label) ?? null,
    quantity: hasSeveral ? 3 : 1,
    forTrade: hasSeveral ? 1 : 0,
    certificate,
    purchaseMinor: i % 5 === 0 ? null : 2_500 + ((i * 1_873) % 40_000),
    saleMinor: i % 11 === 3 ? 75_000 : null,
    purchaseDate: new Date(now.getTime() - i * DAYS_APART * DAY_MS).toISOString().slice(0, 10),
    cardUniqId: null,
    note: i % 13 === 0 ? 'From the first box' : null,
    importKey: null,
  }
}

/** Invented, of labels such as `PSA 10`. */
function demoCertificate(label: string, i: number): StoredCertificate | null {
  const [grader, grade] = label.split(' ')
  if (grader === undefined || grade === undefined || !/\d/.test(grade)) return null
  return { grader, grade, cert: String(90_000_000 + i * 7_919), qualifier: null, subgrades: null }
}

async function demoItems({ db }: WriteCtx): Promise<DemoItem[]> {
  const items = await db.kysely.selectFrom('items').select(['id', 'genre', 'group_ids']).orderBy('id').execute()
  const grades = await db.kysely.selectFrom('groups').select(['id', 'name', 'parent_id']).where('parent_id', 'is not', null).execute()
  return items.map(({ id, genre, group_ids }) => {
    const suitable = grades.filter((grade) => group_ids.includes(grade.parent_id!))
    return { id, genre, grades: new Map(suitable.map((grade) => [grade.name, grade.id])) }
  })
}
