// Reads the health of the service: the checks of the command `doctor`, run by the responding node.
import { Type } from '#core/input.ts'
import { reason } from '#core/problems.ts'
import { verb } from '#core/verb.ts'
import type { ReadCtx } from '#db/changes/change.ts'
import type { Config } from '#config.ts'
import { databaseFindings, machineFindings } from './checks.ts'
import { type Finding, FindingSchema } from './findings.ts'

export const HealthSchema = Type.Object(
  { ok: Type.Boolean({ description: 'Whether all findings are ok' }), findings: Type.Array(FindingSchema) },
  { title: 'Health' },
)
export interface Health {
  ok: boolean
  findings: Finding[]
}

/** The part of a node that checks use: its settings. */
export interface HealthCtx extends ReadCtx {
  config: Config
  now: () => Date
}

export const readHealth = verb(
  { name: 'readHealth', needs: 'operator', input: Type.Object({}) },
  async ({ db, config, now }: HealthCtx): Promise<Health> => {
    const describe = reason(config.databaseUrl === null ? 'database_embedded' : 'database_at_url')
    const findings = [...(await machineFindings(config)), ...(await databaseFindings(config, { db, describe, needsWorker: true, now: now() }))]
    return { ok: findings.every(({ ok }) => ok), findings }
  },
)
