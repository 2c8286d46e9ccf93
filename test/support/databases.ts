// Creates and drops databases on the server of a test run.
import pg from 'pg'

/** the migrated database without rows */
export const EMPTY_TEMPLATE = 'mintmark'
/** the same with what every node of the tests would create at its start */
export const NODE_TEMPLATE = 'mintmark_node'

/** Connection string for another database, with the same server and user. */
export function databaseUrl(url: string, database: string): string {
  return url.replace(/@\/\w+/, `@/${database}`)
}

/** @param url any database of the server */
export async function copyDatabase(url: string, template: string, name: string): Promise<void> {
  // Copied without logging its pages, because the database never needs recovery.
  await administer(url, `create database ${name} template ${template} strategy file_copy`)
}

/** Also ends connections that are still open. */
export async function dropDatabase(url: string, name: string): Promise<void> {
  await administer(url, `drop database if exists ${name} with (force)`)
}

/** Copies a template unless another worker has, and changes the copy. The name exists only once the copy is complete. */
export async function copyOnce(url: string, template: string, name: string, fill: (url: string) => Promise<void>): Promise<void> {
  await administering(url, async (client) => {
    await client.query('select pg_advisory_lock(hashtext($1))', [name])
    try {
      const { rowCount } = await client.query('select from pg_database where datname = $1', [name])
      if (rowCount! > 0) return
      const draft = `${name}_draft`
      await copyDatabase(url, template, draft)
      await fill(databaseUrl(url, draft))
      await client.query(`alter database ${draft} rename to ${name}`)
    } finally {
      // The lock belongs to the connection, which returns to the pool.
      await client.query('select pg_advisory_unlock(hashtext($1))', [name])
    }
  })
}

async function administer(url: string, statement: string): Promise<void> {
  await administering(url, (client) => client.query(statement))
}

async function administering(url: string, run: (client: pg.ClientBase) => Promise<unknown>): Promise<void> {
  const client = await administration(databaseUrl(url, 'postgres')).connect()
  try {
    await run(client)
  } finally {
    client.release()
  }
}

let pool: pg.Pool | null = null

/** Connections of this process, because a database is often dropped right before the next one is created. */
function administration(url: string): pg.Pool {
  if (pool) return pool
  pool = new pg.Pool({ connectionString: url, max: 2, allowExitOnIdle: true })
  // The server may stop before the connections end.
  pool.on('error', () => {})
  return pool
}
