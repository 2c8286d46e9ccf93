// Operator API: public sources whose files can be fetched, and the state of each fetch.
import { Type } from '#core/input.ts'
import type { Route } from '#http/route.ts'
import { type ListedSource, listPublicSources, PublicSourceSchema } from '#public-sources/list-public-sources.ts'
import { type FetchCtx, startSourceFetch } from '#public-sources/start-source-fetch.ts'

const tag = 'Imports'

export const publicSourceRoutes: Route<FetchCtx>[] = [
  {
    method: 'GET',
    path: '/public-sources',
    verb: listPublicSources,
    summary: 'List public sources of catalogue files, with their licences and the state of the last fetch',
    tag,
    answer: (sources: ListedSource[]) => ({ data: sources }),
    data: Type.Array(PublicSourceSchema),
  },
  {
    method: 'POST',
    path: '/public-sources/:name/fetch',
    verb: startSourceFetch,
    summary: 'Fetch the files of a public source and import them',
    description:
      'Runs in the background; `GET /public-sources` returns its progress. Files that have not changed are not downloaded again, and ' +
      'files that are imported already are not imported again, except with `again`. By starting it you accept the terms of the source.',
    tag,
    status: 202,
    answer: (source: ListedSource) => ({ data: source, message: 'Fetch started' }),
    data: PublicSourceSchema,
    errors: ['CONFLICT', 'NOT_FOUND'],
  },
]
