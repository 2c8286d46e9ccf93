// Operator API: the people who run the service, their sessions and tokens; and what a new service still lacks.
import { changePerson } from '#accounts/people/change-person.ts'
import { createPerson } from '#accounts/people/create-person.ts'
import { createPersonToken } from '#accounts/people/create-person-token.ts'
import { endPersonSession } from '#accounts/people/end-person-session.ts'
import { endPersonSessions } from '#accounts/people/end-person-sessions.ts'
import { getPerson } from '#accounts/people/get-person.ts'
import { invitePerson } from '#accounts/people/invite-person.ts'
import { listPeople } from '#accounts/people/list-people.ts'
import { listPersonSessions } from '#accounts/people/list-person-sessions.ts'
import { listPersonTokens } from '#accounts/people/list-person-tokens.ts'
import { removePerson } from '#accounts/people/remove-person.ts'
import { revokePersonToken } from '#accounts/people/revoke-person-token.ts'
import {
  type InvitedPerson,
  InvitedPersonSchema,
  type NewPersonToken,
  NewPersonTokenSchema,
  type Person,
  PersonSchema,
  type PersonSession,
  PersonSessionSchema,
  type PersonToken,
  PersonTokenSchema,
} from '#accounts/people/types.ts'
import { Type } from '#core/input.ts'
import type { Page } from '#core/paging.ts'
import type { WriteCtx } from '#db/change.ts'
import type { Route } from '#http/route.ts'
import { type FirstSteps, FirstStepsSchema, readFirstSteps } from './read-first-steps.ts'

const Ended = Type.Object({ ended: Type.Integer({ description: 'How many sessions' }) }, { title: 'EndedSessions' })

export const peopleRoutes: Route<WriteCtx>[] = [
  {
    method: 'GET',
    path: '/people',
    verb: listPeople,
    summary: 'The people who run the service',
    description: 'For owners.',
    tag: 'People',
    answer: ({ rows, pagination }: Page<Person>) => ({ data: rows, pagination }),
    data: Type.Array(PersonSchema),
    paged: true,
  },
  {
    method: 'POST',
    path: '/people',
    verb: createPerson,
    summary: 'Add a person',
    description: 'For owners. The answer has a one-time link, valid for 24 hours, with which they choose a password and set up two-factor sign-in.',
    tag: 'People',
    status: 201,
    answer: (person: InvitedPerson) => ({ data: person, message: 'Send the link: it is not shown again' }),
    data: InvitedPersonSchema,
    errors: ['INVALID_JSON', 'CONFLICT'],
  },
  {
    method: 'GET',
    path: '/people/:id',
    verb: getPerson,
    summary: 'One person',
    description: 'For owners, and for everybody themselves.',
    tag: 'People',
    answer: (person: Person) => ({ data: person }),
    data: PersonSchema,
    errors: ['NOT_FOUND'],
  },
  {
    method: 'PATCH',
    path: '/people/:id',
    verb: changePerson,
    summary: "Change a person's name or roles",
    description: 'For owners. New roles take effect on every node within a second. The last owner stays one: 409.',
    tag: 'People',
    answer: (person: Person) => ({ data: person, message: 'The person is changed' }),
    data: PersonSchema,
    errors: ['INVALID_JSON', 'NOT_FOUND', 'CONFLICT'],
  },
  {
    method: 'DELETE',
    path: '/people/:id',
    verb: removePerson,
    summary: 'Remove a person',
    description: 'For owners. Their sessions and tokens end; the audit log keeps their name. The last owner stays: 409.',
    tag: 'People',
    answer: (person: Person) => ({ data: person, message: 'The person is removed' }),
    data: PersonSchema,
    errors: ['NOT_FOUND', 'CONFLICT'],
  },
  {
    method: 'POST',
    path: '/people/:id/invite',
    verb: invitePerson,
    summary: 'Let a person begin anew',
    description:
      'For owners, when somebody has lost password or authenticator app: sessions, tokens, password and app end, and a new one-time link replaces them.',
    tag: 'People',
    answer: (person: InvitedPerson) => ({ data: person, message: 'Send the link: it is not shown again' }),
    data: InvitedPersonSchema,
    errors: ['NOT_FOUND'],
  },
  {
    method: 'GET',
    path: '/people/:id/sessions',
    verb: listPersonSessions,
    summary: 'The open sessions of a person, newest first',
    description: 'For owners, and for everybody their own.',
    tag: 'People',
    answer: ({ rows, pagination }: Page<PersonSession>) => ({ data: rows, pagination }),
    data: Type.Array(PersonSessionSchema),
    paged: true,
    errors: ['NOT_FOUND'],
  },
  {
    method: 'DELETE',
    path: '/people/:id/sessions',
    verb: endPersonSessions,
    summary: 'End all sessions of a person',
    description: 'For owners, and for everybody their own. Every node refuses an ended session within a second.',
    tag: 'People',
    answer: (result: { ended: number }) => ({ data: result, message: 'The sessions have ended' }),
    data: Ended,
    errors: ['NOT_FOUND'],
  },
  {
    method: 'DELETE',
    path: '/people/:id/sessions/:session_id',
    verb: endPersonSession,
    summary: 'End one session of a person',
    description: 'For owners, and for everybody their own. Every node refuses an ended session within a second.',
    tag: 'People',
    answer: (result: { ended: number }) => ({ data: result, message: 'The session has ended' }),
    data: Ended,
    errors: ['NOT_FOUND'],
  },
  {
    method: 'GET',
    path: '/people/:id/tokens',
    verb: listPersonTokens,
    summary: "A person's tokens, without the tokens themselves",
    description: 'For owners, and for everybody their own.',
    tag: 'People',
    answer: ({ rows, pagination }: Page<PersonToken>) => ({ data: rows, pagination }),
    data: Type.Array(PersonTokenSchema),
    paged: true,
    errors: ['NOT_FOUND'],
  },
  {
    method: 'POST',
    path: '/people/:id/tokens',
    verb: createPersonToken,
    summary: 'Make a token for a person',
    description: 'For owners, and for everybody their own. It may do what the roles of the person allow, and the audit log names the person.',
    tag: 'People',
    status: 201,
    answer: (token: NewPersonToken) => ({ data: token, message: 'Keep the token: it is not shown again' }),
    data: NewPersonTokenSchema,
    errors: ['INVALID_JSON', 'NOT_FOUND'],
  },
  {
    method: 'DELETE',
    path: '/people/:id/tokens/:token_id',
    verb: revokePersonToken,
    summary: "Revoke a person's token",
    description: 'For owners, and for everybody their own. It is refused on every node within a second. Revoking it again changes nothing.',
    tag: 'People',
    answer: (token: PersonToken) => ({ data: token, message: 'The token is revoked' }),
    data: PersonTokenSchema,
    errors: ['NOT_FOUND'],
  },
  {
    method: 'GET',
    path: '/first-steps',
    verb: readFirstSteps,
    summary: 'What a new service still lacks',
    tag: 'Stats',
    answer: (steps: FirstSteps) => ({ data: steps }),
    data: FirstStepsSchema,
  },
]
