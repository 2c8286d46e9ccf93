// Who calls: the account, the key, its limits and what it was used for.
import { type Me, type MeCtx, MeSchema, readMe } from '#accounts/read-me.ts'
import type { Route } from '#http/route.ts'

export const meRoutes: Route<MeCtx>[] = [
  {
    method: 'GET',
    path: '/me',
    verb: readMe,
    summary: 'Your account, key, limits and usage',
    description: 'The first call of a new integration: it says whether the key works, what it may do and what it was used for.',
    tag: 'Account',
    answer: (me: Me) => ({ data: me }),
    data: MeSchema,
  },
]
