// What happened in a sandbox while it was advanced, from its own records: audit entries, deliveries, and the times of vacations.
import { sql } from 'kysely'
import { type Fired, MAX_FIRED } from './sandbox-types.ts'
import type { World } from './world.ts'

interface Recorded {
  kind: 'audit' | 'attempt'
  id: number
  action: string
  subject: string
  subject_id: string
  attempt: number | null
  success: boolean | null
}

/** Collects what is recorded from now on. */
export class FiredReport {
  readonly #world: World
  #audit = 0
  #attempts = 0
  readonly fired: Fired[] = []
  total = 0

  constructor(world: World) {
    this.#world = world
  }

  async begin(): Promise<void> {
    const { rows } = await sql<{ audit: number; attempts: number }>`
      select (select coalesce(max(id), 0) from audit_log)::float8 as audit,
             (select coalesce(max(id), 0) from webhook_attempts)::float8 as attempts`.execute(this.#world.db.kysely)
    this.#audit = rows[0]!.audit
    this.#attempts = rows[0]!.attempts
  }

  /** Adds what has been recorded since the last call. */
  async add(work: string, at: Date): Promise<void> {
    if (work === 'vacations') for (const one of await this.#vacations(at)) this.#push(at, one)
    const { rows } = await sql<Recorded>`
      select 'audit' as kind, id::float8 as id, action, subject_type as subject, subject_id, null::int as attempt, null::boolean as success
      from audit_log where id > ${this.#audit}
      union all
      select 'attempt', id::float8, 'webhook.deliver', 'webhook-event', event_id::text, attempt, success
      from webhook_attempts where id > ${this.#attempts}
      order by 1 desc, 2`.execute(this.#world.db.kysely)
    for (const { kind, id, action, subject, subject_id, attempt, success } of rows) {
      if (kind === 'audit') this.#audit = id
      else this.#attempts = id
      this.#push(at, { action, subject, id: subject_id, ...(attempt !== null && { attempt, success: success ?? false }) })
    }
  }

  #push(at: Date, one: Omit<Fired, 'at'>): void {
    this.total += 1
    if (this.fired.length < MAX_FIRED) this.fired.push({ at: at.toISOString(), ...one })
  }

  async #vacations(at: Date): Promise<Omit<Fired, 'at'>[]> {
    const { rows } = await sql<{ action: string; id: string }>`
      select case when starts_at = ${at} then 'vacation.start' else 'vacation.end' end as action, account_id::text as id
      from vacations where starts_at = ${at} or ends_at = ${at} order by account_id`.execute(this.#world.db.kysely)
    return rows.map(({ action, id }) => ({ action, subject: 'account', id }))
  }
}
