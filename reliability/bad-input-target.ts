// The target of bad input: a running node with accounts created for it, and a bystander account that must not change.
import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { setTimeout as pause } from 'node:timers/promises'
import type { Plan } from '#core/plans.ts'
import type { Db } from '#db/schema.ts'

/** A running node, started by the caller. */
export interface TargetNode {
  publicUrl: string
  operatorUrl: string
  operatorToken: string
  db: Db
}

export interface Target extends TargetNode {
  keys: Record<'starter' | 'plus' | 'enterprise', string>
  /** ids of records that may be changed, by kind */
  ids: Record<IdKind, number[]>
  /** cursors of feeds that have entries: catalogue changes, and events of the `plus` account */
  cursors: Record<'changes' | 'events', readonly string[]>
  /** file names of a dump */
  dumpFiles: readonly string[]
  /** id of the account that must not change */
  bystander: number
  /** id of a listing of the `plus` account that only the final check changes */
  listing: number
}

type IdKind = 'account' | 'key' | 'item' | 'category' | 'listing' | 'collection' | 'record'

/** Sends a valid request. @throws Error unless it succeeds */
export async function sendGood<T>(url: string, key: string, method = 'GET', json?: unknown): Promise<T> {
  const headers = { authorization: `Bearer ${key}`, ...(json !== undefined && { 'content-type': 'application/json' }) }
  const response = await fetch(url, { method, headers, ...(json !== undefined && { body: JSON.stringify(json) }) })
  const text = await response.text()
  if (!response.ok) throw new Error(`A valid request failed: ${method} ${url} answered ${response.status} ${text}`)
  return (JSON.parse(text) as { data: T }).data
}

const LISTINGS = 6

/** Creates the accounts and their records over the operator API. */
export async function prepareTarget(node: TargetNode): Promise<Target> {
  const operate = <T>(method: string, path: string, json?: unknown) =>
    sendGood<T>(`${node.operatorUrl}/operator/v1${path}`, node.operatorToken, method, json)
  const idsAt = async (path: string) => (await operate<{ id: number }[]>('GET', path)).map(({ id }) => id)
  const item = await idsAt('/items?per_page=20')
  const created: Target['ids'] = {
    account: [],
    key: [],
    item,
    category: await idsAt('/categories?per_page=20'),
    listing: [],
    collection: [],
    record: [],
  }
  const createAccount = async (plan: Plan) => {
    const { id } = await operate<{ id: number }>('POST', '/accounts', { name: `Bad input ${plan}`, plan, highlight_credits: 5 })
    const { key, id: keyId } = await operate<{ id: number; key: string }>('POST', `/accounts/${id}/keys`, {})
    return { id, key, keyId }
  }
  const addRecords = async ({ id, key }: { id: number; key: string }) => {
    const listings: number[] = []
    for (let i = 0; i < LISTINGS; i += 1) {
      const listing = await operate<{ id: number }>('POST', '/listings', {
        seller_id: id,
        item_id: item[i % item.length],
        title: `Bad input ${i}`,
        price: 100,
        quantity: 50,
      })
      if (i % 2 === 0) await operate('POST', `/listings/${listing.id}/approve`, {})
      listings.push(listing.id)
    }
    const collection = await operate<{ id: number }>('POST', '/collections', { account_id: id, name: 'Bad input' })
    const records: number[] = []
    for (let i = 0; i < LISTINGS; i += 1) {
      records.push(
        (await sendGood<{ id: number }>(`${node.publicUrl}/api/v1/plus/collections/${collection.id}/items`, key, 'POST', { item_id: item[0] })).id,
      )
    }
    return { listings, collection: collection.id, records }
  }
  const bystander = await withRareIds(node.db, async () => {
    const account = await createAccount('plus')
    await addRecords(account)
    return account
  })
  const [starter, plus, enterprise] = [await createAccount('starter'), await createAccount('plus'), await createAccount('enterprise')]
  for (const account of [plus, enterprise]) {
    const { listings, collection, records } = await addRecords(account)
    created.listing.push(...listings)
    created.collection.push(collection)
    created.record.push(...records)
  }
  // A separate account may be changed at will, so that the attack's own accounts keep working.
  const victim = await createAccount('plus')
  created.account.push(victim.id)
  created.key.push(victim.keyId)
  const keys = { starter: starter.key, plus: plus.key, enterprise: enterprise.key }
  const listing = created.listing.shift()!
  const read = async <T>(path: string, key: string) =>
    (await (await fetch(`${node.publicUrl}/api/v1${path}`, { headers: { authorization: `Bearer ${key}` } })).json()) as T
  // No server listens there, so deliveries fail at once.
  for (const key of [plus.key, enterprise.key]) {
    await sendGood(`${node.publicUrl}/api/v1/plus/webhook`, key, 'PUT', { url: 'http://127.0.0.1:9/', on_sale: true, on_expire: true })
  }
  await operate('POST', '/orders', { order_id: Date.now(), lines: [{ listing_id: listing, quantity: 1 }] })
  await operate('POST', '/dumps')
  while ((await operate<{ running: object | null }>('GET', '/dumps')).running !== null) await pause(50)
  const { files, change_cursor: dumped } = (await read<{ data: { files: { name: string }[]; change_cursor: string } }>('/dumps', enterprise.key)).data
  type Entries = { data: { cursor: string }[]; next: string }
  const cursorsAt = async (path: string, key: string) => {
    const { data, next } = await read<Entries>(path, key)
    return [...data.map(({ cursor }) => cursor), next]
  }
  return {
    ...node,
    keys,
    ids: created,
    cursors: { changes: [dumped, ...(await cursorsAt('/changes?limit=3', enterprise.key))], events: await cursorsAt('/plus/events', plus.key) },
    dumpFiles: files.map(({ name }) => name),
    bystander: bystander.id,
    listing,
  }
}

/** Ids of records that no generated request has by chance: operators may change whatever they name. */
const FIRST_RARE_ID = 700_000_001

/** Adds records with rare ids; later ones continue with the usual ids. */
async function withRareIds<T>({ kysely }: Db, add: () => Promise<T>): Promise<T> {
  const sequences = ['accounts', 'listings', 'collections', 'collection_items'].map((table) => sql`pg_get_serial_sequence(${table}, 'id')`)
  const { rows: last } = await sql<{ value: string }>`
    select nextval(name) as value from unnest(array[${sql.join(sequences)}]) with ordinality s(name, at) order by at`.execute(kysely)
  const continueAt = (values: readonly number[]) =>
    sql`select setval(name, value) from unnest(array[${sql.join(sequences)}], ${values}::int8[]) s(name, value)`.execute(kysely)
  await continueAt(last.map(() => FIRST_RARE_ID))
  const added = await add()
  await continueAt(last.map(({ value }) => Number(value)))
  return added
}

/** A digest of everything that belongs to the bystander, except items, which operators may merge. */
export async function bystanderState({ db, bystander }: Pick<Target, 'db' | 'bystander'>): Promise<string> {
  const { rows } = await sql<{ row: string }>`
    select (to_jsonb(t) - 'last_used_at')::text as row from accounts t where id = ${bystander}
    union all select (to_jsonb(t) - 'last_used_at')::text from api_keys t where account_id = ${bystander}
    union all select (to_jsonb(t) - 'item_id' #- '{approved,item_id}')::text from listings t where seller_id = ${bystander}
    union all select to_jsonb(t)::text from collections t where account_id = ${bystander}
    union all select (to_jsonb(r) - 'item_id')::text from collection_items r join collections c on c.id = r.collection_id where c.account_id = ${bystander}
    union all select to_jsonb(t)::text from webhooks t where account_id = ${bystander}
    order by 1`.execute(db.kysely)
  return createHash('sha256')
    .update(rows.map(({ row }) => row).join('\n'))
    .digest('hex')
}

/** Rejected requests that left an audit row. */
export async function auditedRefusals(
  { db }: Pick<Target, 'db'>,
  prefix: string,
  succeeded: ReadonlySet<string>,
): Promise<{ id: string; action: string }[]> {
  const { rows } = await sql<{ id: string; action: string }>`
    select distinct request_id as id, action from audit_log where request_id like ${`${prefix}%`}`.execute(db.kysely)
  return rows.filter(({ id }) => !succeeded.has(id))
}
