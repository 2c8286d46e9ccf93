// Setup steps of a new service, each derived from stored data.
import { sql } from 'kysely'
import { type Static, Type } from '#core/input.ts'
import { namedValues } from '#core/named-values.ts'
import { verb } from '#core/verb.ts'
import type { ReadCtx } from '#db/changes/change.ts'

const STEPS = namedValues('FirstStep', ['owner', 'catalogue', 'prices', 'rates', 'account', 'key', 'listing'])

export const FirstStepsSchema = Type.Object(
  {
    done: Type.Boolean({ description: 'Whether every step except `owner` is done: a service can run with shared tokens only' }),
    steps: Type.Array(
      Type.Object({
        step: Type.Enum([...STEPS]),
        done: Type.Boolean(),
        subject_id: Type.Union([Type.Integer(), Type.Null()], { description: 'For the step `key`: an account without a key' }),
      }),
    ),
  },
  { title: 'FirstSteps' },
)
export type FirstSteps = Static<typeof FirstStepsSchema>

export const readFirstSteps = verb(
  { name: 'readFirstSteps', needs: 'operator', input: Type.Object({}) },
  async ({ db: { kysely } }: ReadCtx): Promise<FirstSteps> => {
    const { rows } = await sql<Record<(typeof STEPS)[number], boolean> & { account_id: number | null }>`
      select exists (select from people where removed_at is null and 'owner' = any(roles) and totp_secret is not null) as owner,
        exists (select from items) as catalogue,
        exists (select from prices) as prices,
        exists (select from rates) as rates,
        exists (select from accounts) as account,
        exists (select from api_keys where revoked_at is null) as key,
        exists (select from listings) as listing,
        (select min(id) from accounts) as account_id`.execute(kysely)
    const found = rows[0]!
    const steps = STEPS.map((step) => ({ step, done: found[step], subject_id: step === 'key' ? found.account_id : null }))
    return { done: steps.every(({ step, done }) => done || step === 'owner'), steps }
  },
)
