// Operator API: the sandboxes of accounts.
import { paged, type Route } from '#http/route.ts'
import { listStoredSandboxes, type OperateSandboxesCtx, removeStoredSandbox, StoredSandboxSchema } from '#sandbox/operate-sandboxes.ts'

export const sandboxRoutes: Route<OperateSandboxesCtx>[] = [
  {
    path: '/sandboxes',
    ...paged(listStoredSandboxes, StoredSandboxSchema),
    summary: 'List the sandboxes of all accounts, last used first',
    tag: 'Sandboxes',
  },
  {
    method: 'DELETE',
    path: '/sandboxes/:id',
    verb: removeStoredSandbox,
    summary: 'Delete a sandbox with everything in it',
    description: 'Its test key is rejected at once. A sandbox that nobody uses for seven days is deleted by itself.',
    tag: 'Sandboxes',
    answer: () => ({ data: undefined, message: 'Sandbox deleted' }),
    errors: ['NOT_FOUND'],
  },
]
