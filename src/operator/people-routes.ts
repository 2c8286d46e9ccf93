// Operator API: people who run the service, their sessions and tokens, and the setup steps of a new service.
import { changePerson } from '#accounts/people/change-person.ts'
import { createPerson } from '#accounts/people/create-person.ts'
import { createPersonToken, listPersonTokens, revokePersonToken } from '#accounts/people/person-tokens.ts'
import { endPersonSession, endPersonSessions, listPersonSessions } from '#accounts/people/person-sessions.ts'
import { getPerson, listPeople } from '#accounts/people/read-people.ts'
import { invitePerson } from '#accounts/people/invite-person.ts'
import { removePerson } from '#accounts/people/remove-person.ts'
import {
  type InvitedPerson,
  InvitedPersonSchema,
  type NewPersonToken,
  NewPersonTokenSchema,
  type Person,
  PersonSchema,
  PersonSessionSchema,
  type PersonToken,
  PersonTokenSchema,
} from '#accounts/people/people-types.ts'
import { Type } from '#core/input.ts'
import type { WriteCtx } from '#db/changes/change.ts'
import { paged, type Route } from '#http/route.ts'
import { type FirstSteps, FirstStepsSchema, readFirstSteps } from './read-first-steps.ts'

const Ended = Type.Object({ ended: Type.Integer({ description: 'Number of sessions' }) }, { title: 'EndedSessions' })

export const peopleRoutes: Route<WriteCtx>[] = [
  {
    path: '/people',
    ...paged(listPeople, PersonSchema),
    summary: 'List the people who run the service',
    description: 'Owners only.',
    tag: 'People',
  },
  {
    method: 'POST',
    path: '/people',
    verb: createPerson,
    summary: 'Add a person',
    description: 'Owners only. Returns a one-time link, valid for 24 hours, to choose a password and set up two-factor sign-in.',
    tag: 'People',
    status: 201,
    answer: (person: InvitedPerson) => ({ data: person, message: 'Send the link now; it is shown only once' }),
    data: InvitedPersonSchema,
    errors: ['INVALID_JSON', 'CONFLICT'],
  },
  {
    method: 'GET',
    path: '/people/:id',
    verb: getPerson,
    summary: 'Read a person',
    description: 'Owners, or the person themselves.',
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
    description: 'Owners only. New roles take effect on every node within a second. Removing the last owner role returns 409.',
    tag: 'People',
    answer: (person: Person) => ({ data: person, message: 'Person updated' }),
    data: PersonSchema,
    errors: ['INVALID_JSON', 'NOT_FOUND', 'CONFLICT'],
  },
  {
    method: 'DELETE',
    path: '/people/:id',
    verb: removePerson,
    summary: 'Remove a person',
    description: 'Owners only. Ends their sessions and tokens; the audit log keeps their name. Removing the last owner returns 409.',
    tag: 'People',
    answer: (person: Person) => ({ data: person, message: 'Person removed' }),
    data: PersonSchema,
    errors: ['NOT_FOUND', 'CONFLICT'],
  },
  {
    method: 'POST',
    path: '/people/:id/invite',
    verb: invitePerson,
    summary: "Reset a person's credentials",
    description:
      'Owners only, for a person who has lost the password or authenticator app. Ends sessions and tokens, removes the password and app, and returns a new one-time link.',
    tag: 'People',
    answer: (person: InvitedPerson) => ({ data: person, message: 'Send the link now; it is shown only once' }),
    data: InvitedPersonSchema,
    errors: ['NOT_FOUND'],
  },
  {
    path: '/people/:id/sessions',
    ...paged(listPersonSessions, PersonSessionSchema),
    summary: 'List the active sessions of a person, newest first',
    description: 'Owners, or the person themselves.',
    tag: 'People',
    errors: ['NOT_FOUND'],
  },
  {
    method: 'DELETE',
    path: '/people/:id/sessions',
    verb: endPersonSessions,
    summary: 'End all sessions of a person',
    description: 'Owners, or the person themselves. Every node rejects an ended session within a second.',
    tag: 'People',
    answer: (result: { ended: number }) => ({ data: result, message: 'Sessions ended' }),
    data: Ended,
    errors: ['NOT_FOUND'],
  },
  {
    method: 'DELETE',
    path: '/people/:id/sessions/:session_id',
    verb: endPersonSession,
    summary: 'End one session of a person',
    description: 'Owners, or the person themselves. Every node rejects an ended session within a second.',
    tag: 'People',
    answer: (result: { ended: number }) => ({ data: result, message: 'Session ended' }),
    data: Ended,
    errors: ['NOT_FOUND'],
  },
  {
    path: '/people/:id/tokens',
    ...paged(listPersonTokens, PersonTokenSchema),
    summary: "List a person's tokens, without secrets",
    description: 'Owners, or the person themselves.',
    tag: 'People',
    errors: ['NOT_FOUND'],
  },
  {
    method: 'POST',
    path: '/people/:id/tokens',
    verb: createPersonToken,
    summary: 'Create a token for a person',
    description:
      'Owners, or the person themselves. The token has the roles of the person, and the audit log names the person. A token that was created with another token ends with it.',
    tag: 'People',
    status: 201,
    answer: (token: NewPersonToken) => ({ data: token, message: 'Store the token now; it is shown only once' }),
    data: NewPersonTokenSchema,
    errors: ['INVALID_JSON', 'NOT_FOUND'],
  },
  {
    method: 'DELETE',
    path: '/people/:id/tokens/:token_id',
    verb: revokePersonToken,
    summary: "Revoke a person's token",
    description:
      'Owners, or the person themselves. Tokens that were created with it end, too. Every node rejects them within a second. Revoking it again changes nothing.',
    tag: 'People',
    answer: (token: PersonToken) => ({ data: token, message: 'Token revoked' }),
    data: PersonTokenSchema,
    errors: ['NOT_FOUND'],
  },
  {
    method: 'GET',
    path: '/first-steps',
    verb: readFirstSteps,
    summary: 'List the setup steps of a new service',
    tag: 'Stats',
    answer: (steps: FirstSteps) => ({ data: steps }),
    data: FirstStepsSchema,
  },
]
