// Operator API: source records and sets pending a match decision.
import { orNull } from '#core/fields.ts'
import { paged, type Route } from '#http/route.ts'
import { acceptMatch } from '#identity/review/accept-match.ts'
import { acceptSetMatch, separateSetMatch, withdrawSetMatch } from '#identity/review/decide-set-match.ts'
import { getMatch, listMatches, listSetMatches } from '#identity/review/read-matches.ts'
import { type Match, MatchSchema } from '#identity/review/matches.ts'
import { postponeMatch } from '#identity/review/postpone-match.ts'
import { separateMatch } from '#identity/review/separate-match.ts'
import { type SetMatch, SetMatchSchema } from '#identity/review/set-matches.ts'
import { withdrawMatch } from '#identity/review/withdraw-match.ts'
import type { PriceWriteCtx } from '#prices/records/price-types.ts'

export const matchRoutes: Route<PriceWriteCtx>[] = [
  {
    path: '/matches',
    ...paged(listMatches, MatchSchema),
    summary: 'List pending source records with the items they resemble',
    description: 'Only exact matches are applied automatically. Similar, ambiguous and contradictory ones are listed here.',
    tag: 'Matches',
  },
  {
    method: 'GET',
    path: '/matches/:id',
    verb: getMatch,
    summary: 'Read a match',
    tag: 'Matches',
    answer: (match: Match) => ({ data: match }),
    data: MatchSchema,
    errors: ['NOT_FOUND'],
  },
  {
    method: 'POST',
    path: '/matches/:id/accept',
    verb: acceptMatch,
    summary: 'Match a record to an item',
    description:
      'Takes effect immediately and applies to later imports of the record. If the record already has an item, that ' +
      'item is merged into the other one. For a card in several finishes, each finish is matched.',
    tag: 'Matches',
    answer: (match: Match) => ({ data: match, message: 'Match accepted' }),
    data: MatchSchema,
    errors: ['INVALID_JSON', 'CONFLICT', 'NOT_FOUND'],
  },
  {
    method: 'POST',
    path: '/matches/:id/separate',
    verb: separateMatch,
    summary: 'Make a record a separate item',
    description: 'The record matches none of its candidates; later imports keep the decision.',
    tag: 'Matches',
    answer: (match: Match) => ({ data: match, message: 'Match separated' }),
    data: MatchSchema,
    errors: ['CONFLICT', 'NOT_FOUND'],
  },
  {
    method: 'POST',
    path: '/matches/:id/postpone',
    verb: postponeMatch,
    summary: 'Postpone a match',
    description: 'It stays pending, listed with `state=postponed`.',
    tag: 'Matches',
    answer: (match: Match) => ({ data: match, message: 'Match postponed' }),
    data: MatchSchema,
    errors: ['CONFLICT', 'NOT_FOUND'],
  },
  {
    method: 'POST',
    path: '/matches/:id/withdraw',
    verb: withdrawMatch,
    summary: 'Withdraw a decision about a match, or its postponement',
    description: 'The record is pending again, and items merged by the decision are separated. `data` is null if a rule now matches the record.',
    tag: 'Matches',
    answer: (match: Match | null) => ({
      data: match,
      message: match ? 'The match is pending again' : 'Decision withdrawn; a rule now matches the record',
    }),
    data: orNull(MatchSchema),
    errors: ['CONFLICT', 'NOT_FOUND'],
  },
  {
    path: '/set-matches',
    ...paged(listSetMatches, SetMatchSchema),
    summary: 'List sets that resemble sets of other sources',
    tag: 'Matches',
  },
  {
    method: 'POST',
    path: '/set-matches/:id/accept',
    verb: acceptSetMatch,
    summary: 'Map a set to a set of another source',
    description: 'Its cards are matched to those with the same number and name, and to unique similar ones; contradictory ones stay pending.',
    tag: 'Matches',
    answer: (match: SetMatch) => ({ data: match, message: 'Set mapped' }),
    data: SetMatchSchema,
    errors: ['INVALID_JSON', 'CONFLICT', 'NOT_FOUND'],
  },
  {
    method: 'POST',
    path: '/set-matches/:id/separate',
    verb: separateSetMatch,
    summary: 'Make a set a separate set',
    description: 'Its cards become separate items, unless a shop id matches them to another card.',
    tag: 'Matches',
    answer: (match: SetMatch) => ({ data: match, message: 'Set separated' }),
    data: SetMatchSchema,
    errors: ['CONFLICT', 'NOT_FOUND'],
  },
  {
    method: 'POST',
    path: '/set-matches/:id/withdraw',
    verb: withdrawSetMatch,
    summary: 'Withdraw all decisions about a set',
    description: 'Items merged by these decisions are separated.',
    tag: 'Matches',
    answer: (match: SetMatch) => ({ data: match, message: 'Decisions withdrawn' }),
    data: SetMatchSchema,
    errors: ['CONFLICT', 'NOT_FOUND'],
  },
]
