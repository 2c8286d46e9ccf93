// A node with the sample catalogue.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { inject } from 'vitest'
import { readConfig } from '#config.ts'
import { openPool } from '#db/connection/pool.ts'
import type { Schema } from '#db/schema.ts'
import { copyOnce, NODE_TEMPLATE } from './databases.ts'
import { importFiles, startTestNode, type TestNode, type TestNodeOptions } from './node.ts'
import { copyOf, type TestDatabase } from './postgres.ts'

const FILES = ['pokemon.ndjson', 'onepiece.ndjson']
const SAMPLE_TEMPLATE = 'mintmark_sample'

export function startSampleNode(options: Omit<TestNodeOptions, 'database' | 'databaseUrl'> = {}): Promise<TestNode> {
  return startTestNode({ ...options, database: sampleDatabase })
}

/** The first worker that needs the sample imports it. */
async function sampleDatabase(): Promise<TestDatabase> {
  await copyOnce(inject('templateUrl'), NODE_TEMPLATE, SAMPLE_TEMPLATE, importSample)
  return copyOf(SAMPLE_TEMPLATE)
}

async function importSample(url: string): Promise<void> {
  const config = readConfig({ DATABASE_URL: url })
  const db = openPool<Schema>({ url, max: 2, applicationName: 'mintmark test' })
  const viewer = { kind: 'operator', name: 'test' } as const
  const ctx = { db, now: () => new Date(), viewer, requestId: null, idempotency: null, caughtUp: async () => {} }
  const read = (name: string) => readFileSync(fileURLToPath(new URL(`../../sample/${name}`, import.meta.url)))
  try {
    const report = await importFiles(
      { ctx, config },
      'mintmark-ndjson',
      FILES.map((name) => ({ name, text: read(name) })),
    )
    if (report.status !== 'done') throw new Error(`The sample was not taken: ${JSON.stringify(report.why)}`)
  } finally {
    await db.close()
  }
}
