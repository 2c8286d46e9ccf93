// A node with the demo, for tests that send the requests of the reference.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeShop } from '#cli/demo/make-demo.ts'
import { readConfig } from '#config.ts'
import { openPool } from '#db/connection/pool.ts'
import type { Schema } from '#db/schema.ts'
import { startNode } from '#node/start.ts'
import { PATIENT, settle, silent } from './node.ts'
import { freshDatabase } from './postgres.ts'

export type DemoNode = Awaited<ReturnType<typeof startDemoNode>>

export async function startDemoNode() {
  const dataDir = mkdtempSync(join(tmpdir(), 'mintmark-demo-'))
  const database = await freshDatabase()
  const config = readConfig({
    PORT: '0',
    OPERATOR_PORT: '0',
    RATE_LIMITS: 'off',
    // No scheduled dumps; only an example creates one.
    DUMP_HOUR: 'off',
    DATABASE_URL: database.url,
    DATA_DIR: dataDir,
    SECRET_KEY: 'secret key of the reference',
    WEBHOOK_RETRY_DELAYS: '10ms,10ms',
  })
  const db = openPool<Schema>({ url: database.url, max: 8, applicationName: 'mintmark test', ...PATIENT })
  const node = await startNode({ config, db, log: silent, now: () => new Date(), listeners: { public: true, operator: true }, worker: true })
  await settle(node)
  const close = async () => {
    await node.close()
    await db.close()
    await database.drop()
    rmSync(dataDir, { recursive: true, force: true })
  }
  // Without history and queues: the ids of the examples do not depend on them.
  const { access } = await makeShop(node.ctx({ kind: 'operator', name: 'test' }), config)
  return { ...node, db, dataDir, access, close }
}
