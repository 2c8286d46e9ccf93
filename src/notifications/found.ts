// Findings that an audience is notified of: those of the health checks for operators, and those of each account.
import { hostname } from 'node:os'
import { expiringKeys } from '#accounts/keys/expiring-keys.ts'
import { reason } from '#core/problems.ts'
import { localDay } from '#core/time.ts'
import type { Db } from '#db/schema.ts'
import { databaseFindings, machineFindings } from '#health/checks.ts'
import { type Finding, type FindingRule, FINDINGS, type FindingTerms, finding, type Severity } from '#health/findings.ts'
import { failingReceivers } from '#webhooks/delivery/receiver-health.ts'
import type { Config } from '#config.ts'

/** A finding for an audience; at most one for each audience, subject and node. */
export interface Found {
  /** null for operators */
  accountId: number | null
  /** the check, and for several of one kind the id of the record */
  subject: string
  /** the machine that it is about; empty for the whole service */
  node: string
  kind: FindingRule
  severity: Severity
  params: object
  /** the audience is told again when this changes */
  state: string
  /** the same, when this has doubled; null for findings without an amount */
  value: number | null
}

/** Checks whose result depends on the machine that runs them. */
const MACHINE_CHECKS: readonly string[] = ['settings', 'data dir', 'disk', 'limits', 'dumps', 'archive', 'replica', 'clock']

export const NODE = hostname()

/** Everything that this machine finds. Only workers call this, so there is one. */
export async function findAll(config: Config, db: Db, now: Date): Promise<Found[]> {
  const describe = reason(config.databaseUrl === null ? 'database_embedded' : 'database_at_url')
  const [machine, database, accounts] = await Promise.all([
    machineFindings(config),
    databaseFindings(config, { db, describe, needsWorker: false, now }),
    findForAccounts(db, now, config.timeZone),
  ])
  const operators = [...machine, ...database].flatMap((one) =>
    foundOf(one, { accountId: null, node: MACHINE_CHECKS.includes(one.check) ? NODE : '' }),
  )
  // Two findings of one check are about the same thing.
  const first = new Map(operators.toReversed().map((one) => [one.subject, one]))
  return [...first.values(), ...accounts]
}

async function findForAccounts({ kysely }: Db, now: Date, zone: string): Promise<Found[]> {
  const [failing, keys] = await Promise.all([failingReceivers(kysely), expiringKeys(kysely, now)])
  return [
    ...failing.flatMap((accountId) => foundOf(finding('webhook', true, 'own_webhook_failing'), { accountId, node: '' })),
    ...keys.flatMap(({ id, accountId, label, last4, expiresAt }) => {
      const params = { ...(label !== '' && { label }), last4, day: localDay(expiresAt, zone) }
      return foundOf(finding(`key ${id}`, true, 'own_key_expiring', params), { accountId, node: '' })
    }),
  ]
}

/** Empty unless the audience is to be notified of it. */
function foundOf({ check, ok, rule, params }: Finding, audience: Pick<Found, 'accountId' | 'node'>): Found[] {
  const kind = rule as FindingRule
  const { severity, differs = [], grows, shrinks }: FindingTerms = FINDINGS[kind]
  if (ok && severity === undefined) return []
  const number = (name: string | undefined) => (name === undefined ? null : Number(params[name] ?? 0))
  const [large, small] = [number(grows), number(shrinks)]
  const state = JSON.stringify([kind, ...differs.map((name) => params[name])])
  const value = large ?? (small === null ? null : 1 / Math.max(small, 0.001))
  return [{ ...audience, subject: check, kind, severity: severity ?? 'warning', params, state, value }]
}
