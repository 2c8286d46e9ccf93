// Operator API: source records and sets that wait for a decision about which item or set they are.
import { orNull } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import type { Page } from '#core/paging.ts'
import type { Route } from '#http/route.ts'
import { acceptMatch } from '#identity/accept-match.ts'
import { acceptSetMatch, separateSetMatch, withdrawSetMatch } from '#identity/decide-set-match.ts'
import { getMatch } from '#identity/get-match.ts'
import { listMatches } from '#identity/list-matches.ts'
import { listSetMatches } from '#identity/list-set-matches.ts'
import { type Match, MatchSchema } from '#identity/matches.ts'
import { postponeMatch } from '#identity/postpone-match.ts'
import { separateMatch } from '#identity/separate-match.ts'
import { type SetMatch, SetMatchSchema } from '#identity/set-matches.ts'
import { withdrawMatch } from '#identity/withdraw-match.ts'
import type { PriceWriteCtx } from '#prices/types.ts'

export const matchRoutes: Route<PriceWriteCtx>[] = [
  {
    method: 'GET',
    path: '/matches',
    verb: listMatches,
    summary: 'Source records that wait for a decision, beside the items that they resemble',
    description: 'Only exact matches join by themselves. What is only alike, claimed twice or contradicted waits here.',
    tag: 'Matches',
    answer: ({ rows, pagination }: Page<Match>) => ({ data: rows, pagination }),
    data: Type.Array(MatchSchema),
    paged: true,
  },
  {
    method: 'GET',
    path: '/matches/:id',
    verb: getMatch,
    summary: 'One match',
    tag: 'Matches',
    answer: (match: Match) => ({ data: match }),
    data: MatchSchema,
    errors: ['NOT_FOUND'],
  },
  {
    method: 'POST',
    path: '/matches/:id/accept',
    verb: acceptMatch,
    summary: 'Join a record to an item',
    description:
      'Takes effect at once and holds for later imports of the record. If the record is an item already, that item is merged into ' +
      'the other one. A card in several finishes joins those of the other card one by one.',
    tag: 'Matches',
    answer: (match: Match) => ({ data: match, message: `Match ${match.id} accepted; the record is item ${match.decision!.item_id}` }),
    data: MatchSchema,
    errors: ['INVALID_JSON', 'CONFLICT', 'NOT_FOUND'],
  },
  {
    method: 'POST',
    path: '/matches/:id/separate',
    verb: separateMatch,
    summary: 'Make a record an item of its own',
    description: 'It is none of its candidates, and later imports do not ask again.',
    tag: 'Matches',
    answer: (match: Match) => ({ data: match, message: `Match ${match.id} separated; the record is item ${match.decision!.item_id}` }),
    data: MatchSchema,
    errors: ['CONFLICT', 'NOT_FOUND'],
  },
  {
    method: 'POST',
    path: '/matches/:id/postpone',
    verb: postponeMatch,
    summary: 'Leave a match for later',
    description: 'It goes on waiting, listed with `state=postponed`.',
    tag: 'Matches',
    answer: (match: Match) => ({ data: match, message: `Match ${match.id} postponed` }),
    data: MatchSchema,
    errors: ['CONFLICT', 'NOT_FOUND'],
  },
  {
    method: 'POST',
    path: '/matches/:id/withdraw',
    verb: withdrawMatch,
    summary: 'Withdraw the decision about a match, or its postponement',
    description: 'The record waits again, and items that the decision merged are two again. `data` is null where a rule joins the record meanwhile.',
    tag: 'Matches',
    answer: (match: Match | null) => ({
      data: match,
      message: match ? `Match ${match.id} waits again` : 'Decision withdrawn; a rule decides about the record',
    }),
    data: orNull(MatchSchema),
    errors: ['CONFLICT', 'NOT_FOUND'],
  },
  {
    method: 'GET',
    path: '/set-matches',
    verb: listSetMatches,
    summary: 'Sets that resemble sets of other sources, for one decision about all their cards',
    tag: 'Matches',
    answer: ({ rows, pagination }: Page<SetMatch>) => ({ data: rows, pagination }),
    data: Type.Array(SetMatchSchema),
    paged: true,
  },
  {
    method: 'POST',
    path: '/set-matches/:id/accept',
    verb: acceptSetMatch,
    summary: 'Decide that a set is a set of another source',
    description: 'Its cards join those with the same number and name, and single ones that are alike; what is contradicted goes on waiting.',
    tag: 'Matches',
    answer: (match: SetMatch) => ({ data: match, message: `Set ${match.id} mapped; ${match.waiting} of its cards go on waiting` }),
    data: SetMatchSchema,
    errors: ['INVALID_JSON', 'CONFLICT', 'NOT_FOUND'],
  },
  {
    method: 'POST',
    path: '/set-matches/:id/separate',
    verb: separateSetMatch,
    summary: 'Decide that a set is none of the others',
    description: 'Its cards become items of their own, except where a shop id says otherwise.',
    tag: 'Matches',
    answer: (match: SetMatch) => ({ data: match, message: `Set ${match.id} separated; ${match.waiting} of its cards go on waiting` }),
    data: SetMatchSchema,
    errors: ['CONFLICT', 'NOT_FOUND'],
  },
  {
    method: 'POST',
    path: '/set-matches/:id/withdraw',
    verb: withdrawSetMatch,
    summary: 'Withdraw all decisions about a set',
    description: 'Items that they merged are two again.',
    tag: 'Matches',
    answer: (match: SetMatch) => ({ data: match, message: `Decisions about set ${match.id} withdrawn` }),
    data: SetMatchSchema,
    errors: ['CONFLICT', 'NOT_FOUND'],
  },
]
