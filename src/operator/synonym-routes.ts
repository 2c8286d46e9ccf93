// Operator API: search synonyms of the operator, in addition to the built-in ones.
import { listSynonyms } from '#catalogue/search/list-synonyms.ts'
import { setSynonyms, SynonymSchema } from '#catalogue/search/set-synonyms.ts'
import type { Synonym } from '#catalogue/index/synonyms.ts'
import { Type } from '#core/input.ts'
import type { WriteCtx } from '#db/changes/change.ts'
import type { Route } from '#http/route.ts'

export const synonymRoutes: Route<WriteCtx>[] = [
  {
    method: 'GET',
    path: '/synonyms',
    verb: listSynonyms,
    summary: "List the operator's search synonyms by word",
    description: 'Built-in synonyms such as `etb` are not listed; they always apply.',
    tag: 'Catalogue',
    answer: (synonyms: Synonym[]) => ({ data: synonyms }),
    data: Type.Array(SynonymSchema),
  },
  {
    method: 'PUT',
    path: '/synonyms',
    verb: setSynonyms,
    summary: "Replace the operator's synonyms",
    description:
      'A list of words or short phrases with their equivalents. A word may appear several times; the first equivalent has the ' +
      'highest weight. The list replaces the previous one; an empty list removes it. Takes effect on all nodes within a second.',
    tag: 'Catalogue',
    bodyField: 'synonyms',
    answer: (synonyms: Synonym[]) => ({ data: synonyms, message: 'Synonyms saved' }),
    data: Type.Array(SynonymSchema),
    errors: ['INVALID_JSON'],
  },
]
