// Nodes on several machines that do not share dumps and archives: health, doctor's checks and GET /dumps report it.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { OPERATOR_TOKEN, send, startTestNode, type TestNode, until } from '../support/node.ts'

interface Health {
  ok: boolean
  findings: { check: string; ok: boolean; rule: string; params: Record<string, unknown> }[]
}

let here: TestNode
let there: TestNode
let folder: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'mintmark-other-machine-'))
  here = await startTestNode()
  there = await startTestNode({ databaseUrl: here.databaseUrl, env: { DUMPS_DIR: join(folder, 'dumps'), ARCHIVE_DIR: join(folder, 'archive') } })
})

afterAll(async () => {
  await there.close()
  await here.close()
  rmSync(folder, { recursive: true, force: true })
})

async function rulesOf(node: TestNode): Promise<string[]> {
  const { findings } = (await send<Health>(`${node.operatorUrl}/operator/v1/health`, OPERATOR_TOKEN)).body.data
  return findings.filter(({ ok }) => !ok).map(({ rule }) => rule)
}

const dumpOf = (node: TestNode) => send<{ as_of: string } | null>(`${node.publicUrl}/api/v1/dumps`, here.keys.professional)

test('a dump that another node has written is missing here, until both share the folder', { tags: 'slow' }, async () => {
  expect((await dumpOf(there)).body.data).toBeNull()
  expect(await rulesOf(there)).not.toContain('dump_missing')
  await send(`${here.operatorUrl}/operator/v1/dumps`, OPERATOR_TOKEN, { method: 'POST' })
  await until('the dump is published', async () => (await dumpOf(here)).body.data !== null)
  const { as_of } = (await dumpOf(here)).body.data!
  await until('the dump is recorded', async () => (await dumpOf(there)).status === 503)
  expect(await rulesOf(here)).not.toContain('dump_missing')
  const { status, body } = await dumpOf(there)
  expect([status, body.error!.code, body.error!.rule]).toEqual([503, 'UNAVAILABLE', 'dump_elsewhere'])
  expect(await rulesOf(there)).toContain('dump_missing')
  const sharing = await startTestNode({ databaseUrl: here.databaseUrl })
  try {
    expect((await dumpOf(sharing)).body.data).toMatchObject({ as_of })
    expect(await rulesOf(sharing)).not.toContain('dump_missing')
  } finally {
    await sharing.close()
  }
})

test('an archived month that this node cannot read is reported', async () => {
  expect(await rulesOf(there)).not.toContain('archive_missing')
  await sql`
    insert into audit_archives (month, file, rows, checksum, emptied, archived_at)
    values ('2025-01', 'audit-2025-01-x.parquet', 1, '', true, now())`.execute(here.db.kysely)
  expect(await rulesOf(there)).toContain('archive_missing')
})
