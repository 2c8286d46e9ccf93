// The caller's account, key, limits and usage.
import { type Me, type MeCtx, MeSchema, readMe } from '#accounts/keys/read-me.ts'
import type { Route } from '#http/route.ts'

export const meRoutes: Route<MeCtx>[] = [
  {
    method: 'GET',
    path: '/me',
    verb: readMe,
    summary: 'Read your account, key, limits and usage',
    description: 'A good first call for a new integration: it shows whether the key works, what it may do and how it has been used.',
    tag: 'Account',
    answer: (me: Me) => ({ data: me }),
    data: MeSchema,
  },
]
