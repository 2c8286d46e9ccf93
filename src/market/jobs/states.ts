// States of a price job, and outcomes of its rows.
import { namedValues } from '#core/named-values.ts'

export const JOB_POLICIES = namedValues('PriceJobPolicy', ['all', 'good_rows'])
export type JobPolicy = (typeof JOB_POLICIES)[number]

export const JOB_STATES = namedValues('PriceJobState', ['planned', 'applied', 'undone', 'expired'])
export type JobState = (typeof JOB_STATES)[number]

export const ROW_OUTCOMES = namedValues('PriceJobRowOutcome', ['changed', 'reversed', 'kept', 'failed'])
export type RowOutcome = (typeof ROW_OUTCOMES)[number]

/** The state at a given time: a plan expires exactly at its end. */
export function jobStateAt({ state, expires_at: expiresAt }: { state: Exclude<JobState, 'expired'>; expires_at: Date }, now: Date): JobState {
  return state === 'planned' && expiresAt.getTime() <= now.getTime() ? 'expired' : state
}
