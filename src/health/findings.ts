// Findings of health checks and their remedies: rules with parameters, from which texts are built in any language.
import type { Words } from '#core/problem-texts/words.ts'
import { fillTemplate, type Params } from '#core/problems.ts'
import { type Static, Type } from '#core/input.ts'
import { namedValues } from '#core/named-values.ts'

export interface FindingTexts {
  found: string
  /** what to do about it */
  advice?: string
}

export const SEVERITIES = namedValues('Severity', ['info', 'warning', 'critical'])
export type Severity = (typeof SEVERITIES)[number]

/** A rule of findings, and how its audience is notified. */
export interface FindingTerms extends FindingTexts {
  /** default: `warning` for a finding that is not ok; one that is ok is only notified of if this is set */
  severity?: Severity
  /** parameters whose change is notified of again */
  differs?: readonly string[]
  /** a number that is notified of again once it has doubled */
  grows?: string
  /** the same, once it has halved */
  shrinks?: string
}

const SOURCE =
  '[{name}; ][set aside by {aside}; ][days since the latest feed: {age_days}|no feed imported yet][, usually {interval_days} between feeds]' +
  '[; {confirmed} % confirmed, {trusted} % trusted, {disputed} % disputed, {stale} % stale]; {held} held[; prices (coverage): {covered}]'
const DECIDE = '[review them: mintmark held list --market {held_market}]'

/** Every rule with its English texts. Of `[a|b]`, the first alternative whose parameters are all given is used. */
export const FINDINGS = {
  settings_valid: { found: 'all valid' },
  settings_invalid: { found: '{message}', advice: 'fix the environment variable' },
  port_free: { found: '{address} is free' },
  port_used_here: { found: '{address} is in use by the mintmark running on this DATA_DIR' },
  port_used_by_us: { found: '{address} is in use by another mintmark' },
  port_used: { found: '{address} is in use', advice: 'stop the other program, or set {setting}' },
  data_dir_not_needed: { found: 'not needed: DATABASE_URL is set' },
  data_dir_to_make: { found: '{path} will be created on first start' },
  data_dir_writable: { found: '{path}' },
  data_dir_not_writable: { found: '{path} cannot be written', advice: 'change its owner, or set DATA_DIR', severity: 'critical' },
  disk_free: { found: '{gigabytes} GB free' },
  disk_low: {
    found: '{gigabytes} GB free',
    advice: 'free disk space; the database stops writing when the disk is full',
    severity: 'critical',
    shrinks: 'gigabytes',
  },
  limits_off: { found: 'off (RATE_LIMITS)' },
  limits_database: { found: 'shared by all nodes in PostgreSQL' },
  limits_memory: { found: 'in memory (the embedded database serves one node)' },
  dumps_kept: { found: 'stored in {place}' },
  dumps_refused: { found: '{place} cannot be used: {message}', advice: 'check DUMPS_S3_URL, its keys and DUMPS_S3_REGION' },
  dumps_unreachable: { found: '{place} cannot be used: {message}', advice: 'check that the store is running and reachable from this machine' },
  dump_missing: {
    found: '{place} does not contain the dump of {at}',
    advice: 'nodes on several machines must share their dumps: set DUMPS_DIR to a shared folder, or DUMPS_S3_URL',
  },
  sandboxes_ready: { found: '{count} of at most {max}' },
  sandboxes_role: {
    found: 'the database role may not create databases, so accounts cannot create sandboxes',
    advice: 'run as a superuser: alter role {role} createdb; or set SANDBOXES=0',
    severity: 'info',
  },
  archive_missing: {
    found: '{place} lacks archived months ({count}), such as {file}',
    advice: 'nodes on several machines must share the archive: set ARCHIVE_DIR to a shared folder, or DUMPS_S3_URL',
  },
  database_good: { found: '{database}, version {version}' },
  database_old: { found: '{database}, version {version}', advice: 'PostgreSQL 15 or newer is needed', severity: 'critical' },
  database_not_durable: { found: '{database}, version {version}, not durable', advice: 'set fsync and full_page_writes to on', severity: 'critical' },
  database_url_unreachable: { found: '{message}', advice: 'check DATABASE_URL, and that the server is running' },
  database_not_started: { found: '{message}', advice: 'see postgres.log in DATA_DIR' },
  replica_good: { found: 'standby of the database, last change {seconds} s ago' },
  replica_not_used: { found: '{message}', advice: 'fix DATABASE_REPLICA_URL; large reads currently load the primary' },
  migrations_done: { found: 'up to date' },
  migrations_pending: { found: '{count} pending', advice: 'run mintmark migrate' },
  worker_alive: { found: '{count} alive' },
  // A worker that is being replaced is not a problem.
  worker_replaced: { found: 'none running; last seen {seconds} s ago' },
  worker_missing: {
    found: '[none running; last seen {seconds} s ago|none has ever run]',
    advice: 'start mintmark work (or serve); without a worker, webhooks are not delivered and publication periods do not end',
    severity: 'critical',
  },
  clock_good: { found: '{milliseconds} ms from the database’s' },
  clock_off: { found: '{milliseconds} ms from the database’s', advice: 'synchronise the clocks (NTP)' },
  source: { found: SOURCE, advice: DECIDE },
  source_late: { found: `late; ${SOURCE}`, advice: DECIDE, severity: 'warning' },
  ratios_open: {
    found: 'usual ratios of sets that await a decision: {count}',
    advice: 'decide: mintmark usual-ratios list --state open',
    severity: 'info',
    grows: 'count',
  },
  rates_known: { found: 'known for {currencies}' },
  rates_unchecked: {
    found: 'known for {currencies}; {unchecked} prices could not be checked: no exchange rate for their day',
    advice: 'load rates of days before {first}: mintmark rates import <file>; the prices are checked again within an hour',
    grows: 'unchecked',
  },
  rates_old: {
    found: 'those of {old} are {age_days} days old[; {unchecked} prices could not be checked: no exchange rate for their day]',
    advice: 'load current rates, and then every working day: mintmark rates set {rates}',
    differs: ['old'],
  },
  rates_missing: {
    found:
      'none for {currencies}: sort_by=price lists items with such prices last, and prices are not compared across currencies' +
      '[; {unchecked} prices could not be checked: no exchange rate for their day]',
    advice: 'load rates: mintmark rates set {rates}',
    differs: ['currencies'],
  },
  prices_held: {
    found: '{count} held',
    advice: 'review them: mintmark held list',
    severity: 'info',
    grows: 'count',
  },
  webhooks_failing: {
    found: 'failing: {count}; accounts: {accounts}',
    advice: 'see their delivery attempts in the console, and tell the holders of the accounts',
    severity: 'warning',
    grows: 'count',
  },
  keys_expiring: {
    found: 'expiring within {days} days: {count}; accounts: {accounts}',
    advice: 'replace each with mintmark key rotate <id>, and give the new key to its holder',
    severity: 'warning',
    grows: 'count',
  },
  own_webhook_failing: {
    found: 'the last event was not delivered to your webhook',
    advice: 'check your receiver, and then replay the events that it missed',
    severity: 'warning',
  },
  own_key_expiring: {
    found: 'the key [{label} ]ending in {last4} expires on {day}',
    advice: 'ask the operator of the service for a new key before that day',
    severity: 'warning',
    differs: ['day'],
  },
} as const satisfies Record<string, FindingTerms>

export type FindingRule = keyof typeof FINDINGS

export const FindingSchema = Type.Object(
  {
    check: Type.String({ description: 'Name of the check; for a price source its market', examples: ['database'] }),
    ok: Type.Boolean({ description: 'false if there is a problem' }),
    rule: Type.String({ description: 'Machine-readable code of what was found', examples: ['database_good'] }),
    params: Type.Record(Type.String(), Type.Unknown(), { description: 'Values in the text' }),
    found: Type.String(),
    advice: Type.Optional(Type.String({ description: 'How to fix it' })),
  },
  { title: 'Finding' },
)
export type Finding = Static<typeof FindingSchema>

/** A finding with its English texts. */
export function finding(check: string, ok: boolean, rule: FindingRule, params: Params = {}): Finding {
  const { found, advice } = textsOf(FINDINGS[rule], params)
  return { check, ok, rule, params, found, ...(advice && { advice }) }
}

/** The texts of a finding in the language of the templates (default: English); without advice if there is nothing to do. */
export function textsOf({ found, advice = '' }: FindingTexts, params: Params, words?: Words): Required<FindingTexts> {
  return { found: fillTemplate(found, params, words), advice: fillTemplate(advice, params, words) }
}
