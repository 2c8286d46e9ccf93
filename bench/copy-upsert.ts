// The reference for price imports: PostgreSQL alone loads the rows of a file by COPY and upserts them in one durable transaction; prints the seconds.
// Arguments: connection string, file of tab-separated price rows.
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import { from } from 'pg-copy-streams'

const client = new pg.Client({ connectionString: process.argv[2]! })
await client.connect()
const started = performance.now()
await client.query('begin')
await client.query('create temp table incoming (item_id int, market smallint, label_id int, price numeric, updated_at timestamptz) on commit drop')
await pipeline(createReadStream(process.argv[3]!, { highWaterMark: 256 * 1024 }), client.query(from('copy incoming from stdin')))
await client.query(`
  insert into upserted_prices (item_id, market, label_id, price, updated_at, import_id)
  select item_id, market, label_id, price, updated_at, 0 from incoming
  on conflict (item_id, market, label_id) do update
    set price = excluded.price, updated_at = excluded.updated_at, import_id = excluded.import_id`)
await client.query('commit')
console.log((performance.now() - started) / 1000)
await client.end()
