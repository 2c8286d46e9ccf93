// The report of a response to a breach.
import { orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { namedValues } from '#core/named-values.ts'

/** How whoever acted gets in again. */
export const WAYS_BACK = namedValues('WayBack', ['unchanged', 'password', 'bootstrap_token', 'command_line'])
/** What the service cannot end by itself. */
export const LEFT_TO_DO = namedValues('BreachTask', ['bootstrap_token', 'new_keys', 'webhook_receivers', 'passwords', 'shop_tokens'])

export const BreachReportSchema = Type.Object(
  {
    scope: Type.String({ description: '`account:<id>`, `role:<role>` or `all`' }),
    at: Type.String({ format: 'date-time', description: 'UTC' }),
    ended: Type.Object({
      sessions: Type.Integer({ description: 'Sessions of the desk and the console' }),
      keys: Type.Integer({ description: 'API keys revoked' }),
      tokens: Type.Integer({ description: 'Operator tokens revoked: of people, and shared ones' }),
      webhook_secrets: Type.Integer({ description: 'Secrets of webhooks replaced; the previous ones sign nothing any more' }),
    }),
    tell: Type.Object(
      {
        accounts: Type.Array(
          Type.Object({
            id: Type.Integer(),
            name: Type.String(),
            keys: Type.Integer({ description: 'Keys that they had' }),
            webhook: Type.Boolean({ description: 'Whether the secret of their webhook is new' }),
          }),
        ),
        accounts_total: Type.Integer({ description: 'Number of accounts, of which the list has the first' }),
        people: Type.Array(Type.Object({ id: Type.Integer(), name: Type.String() })),
      },
      { description: 'Who must be told' },
    ),
    to_do: Type.Array(Type.Enum(LEFT_TO_DO), { description: 'What the service cannot do by itself' }),
    way_back: Type.Enum(WAYS_BACK, {
      description:
        'How the caller gets in again: `unchanged` (nothing of theirs ended), `password` (sign in again, with the code of the app), `bootstrap_token` ' +
        '(still valid until OPERATOR_TOKEN is changed and the service restarted), `command_line` (on the machine, with `mintmark operator-token create`)',
    }),
    person_id: orNull(Type.Integer({ description: 'Caller, if a person' })),
  },
  { title: 'BreachReport' },
)
export type BreachReport = Static<typeof BreachReportSchema>
