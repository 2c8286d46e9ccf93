// People, sessions and tokens as returned by verbs: field names of the operator API, ready for JSON.
import { orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { ROLES } from '#core/roles.ts'
import { OperatorTokenSchema } from '../credentials/credential-types.ts'

const Time = Type.String({ format: 'date-time', description: 'UTC' })
const LastUse = orNull(Type.String({ format: 'date-time' }), { description: 'First use on the last day (UTC) of use' })

/** Shortest and longest password. */
export const PASSWORD_LENGTH = { min: 12, max: 200 } as const

export const PersonSchema = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String({ description: 'Sign-in name; case-insensitive' }),
    roles: Type.Array(Type.Enum([...ROLES])),
    has_password: Type.Boolean({ description: 'false until the one-time link has been used' }),
    two_factor: Type.Boolean({ description: 'Whether sign-in asks for a code; until it is set up, a session may do nothing else' }),
    by_provider: Type.Boolean({ description: 'Signs in with the identity provider, whose claim decides the roles at each sign-in' }),
    link_expires_at: orNull(Time, { description: 'When the one-time link expires; null if there is none' }),
    created_at: Time,
  },
  {
    title: 'Person',
    examples: [
      {
        id: 3,
        name: 'Ayşe',
        roles: ['market', 'support'],
        has_password: true,
        two_factor: true,
        by_provider: false,
        link_expires_at: null,
        created_at: '2026-11-21T08:00:00.000Z',
      },
    ],
  },
)
export type Person = Static<typeof PersonSchema>

export const InvitedPersonSchema = Type.Object(
  {
    ...PersonSchema.properties,
    link_path: Type.String({ description: "One-time link, relative to the console's address; shown only once" }),
  },
  { title: 'InvitedPerson' },
)
export type InvitedPerson = Static<typeof InvitedPersonSchema>

export const PersonSessionSchema = Type.Object(
  {
    id: Type.Integer(),
    current: Type.Boolean({ description: 'The session of this request' }),
    by_token: Type.Boolean({ description: 'Created with a token instead of a password' }),
    by_provider: Type.Boolean({ description: 'Created by the identity provider' }),
    address: Type.String({ description: 'Address it was created from' }),
    browser: Type.String({ description: 'The `User-Agent` that created it' }),
    created_at: Time,
    last_used_at: LastUse,
    expires_at: Time,
  },
  { title: 'PersonSession' },
)

export const PersonTokenSchema = Type.Object(OperatorTokenSchema.properties, { title: 'PersonToken' })
export type PersonToken = Static<typeof PersonTokenSchema>

export const NewPersonTokenSchema = Type.Object(
  { ...PersonTokenSchema.properties, token: Type.String({ description: 'The token; shown only once' }) },
  { title: 'NewPersonToken' },
)
export type NewPersonToken = Static<typeof NewPersonTokenSchema>
