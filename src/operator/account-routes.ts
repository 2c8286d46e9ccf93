// Operator API: accounts, their credits and their keys.
import { addCredits } from '#accounts/add-credits.ts'
import { changeAccount } from '#accounts/change-account.ts'
import { changeKey } from '#accounts/keys/change-key.ts'
import { createAccount } from '#accounts/create-account.ts'
import { createKey } from '#accounts/keys/create-key.ts'
import { getAccount } from '#accounts/get-account.ts'
import { listAccounts } from '#accounts/list-accounts.ts'
import { listCredits } from '#accounts/list-credits.ts'
import { listKeys } from '#accounts/keys/list-keys.ts'
import { listUsage } from '#accounts/keys/list-usage.ts'
import { revokeKey } from '#accounts/keys/revoke-key.ts'
import { rotateKey } from '#accounts/keys/rotate-key.ts'
import {
  type Account,
  AccountSchema,
  type ApiKey,
  ApiKeySchema,
  type Balance,
  BalanceSchema,
  CreditEntrySchema,
  KeyUsageSchema,
  type NewApiKey,
  NewApiKeySchema,
} from '#accounts/credentials/credential-types.ts'
import type { WriteCtx } from '#db/changes/change.ts'
import { paged, type Route } from '#http/route.ts'

export const accountRoutes: Route<WriteCtx>[] = [
  {
    method: 'POST',
    path: '/accounts',
    verb: createAccount,
    summary: 'Create an account',
    tag: 'Accounts',
    status: 201,
    answer: (account: Account) => ({ data: account, message: 'Account created' }),
    data: AccountSchema,
    errors: ['INVALID_JSON'],
  },
  {
    path: '/accounts',
    ...paged(listAccounts, AccountSchema),
    summary: 'List accounts, oldest first',
    tag: 'Accounts',
  },
  {
    method: 'GET',
    path: '/accounts/:id',
    verb: getAccount,
    summary: 'Read an account',
    tag: 'Accounts',
    answer: (account: Account) => ({ data: account }),
    data: AccountSchema,
    errors: ['NOT_FOUND'],
  },
  {
    method: 'PATCH',
    path: '/accounts/:id',
    verb: changeAccount,
    summary: 'Change an account: name, plan, suspension and listing import',
    description: 'Plan changes and suspension take effect on every node within a second, listing import immediately.',
    tag: 'Accounts',
    answer: (account: Account) => ({ data: account, message: 'Account updated' }),
    data: AccountSchema,
    errors: ['INVALID_JSON', 'NOT_FOUND'],
  },
  {
    method: 'POST',
    path: '/accounts/:id/credits',
    verb: addCredits,
    summary: 'Add or deduct highlight credits',
    description: 'The balance cannot fall below 0: deducting more returns 422.',
    tag: 'Accounts',
    answer: (balance: Balance) => ({ data: balance, message: 'Balance updated' }),
    data: BalanceSchema,
    errors: ['INVALID_JSON', 'NOT_FOUND'],
  },
  {
    path: '/accounts/:id/credits',
    ...paged(listCredits, CreditEntrySchema),
    summary: 'List the highlight credit ledger of an account, newest entry first',
    tag: 'Accounts',
    errors: ['NOT_FOUND'],
  },
  {
    method: 'POST',
    path: '/accounts/:account_id/keys',
    verb: createKey,
    summary: 'Create an API key',
    description: 'The key is returned only in this response.',
    tag: 'Keys',
    status: 201,
    answer: (key: NewApiKey) => ({ data: key, message: 'Store the key now; it is shown only once' }),
    data: NewApiKeySchema,
    errors: ['INVALID_JSON', 'NOT_FOUND'],
  },
  {
    path: '/accounts/:account_id/keys',
    ...paged(listKeys, ApiKeySchema),
    summary: "List an account's keys, without secrets",
    tag: 'Keys',
    errors: ['NOT_FOUND'],
  },
  {
    path: '/accounts/:account_id/usage',
    ...paged(listUsage, KeyUsageSchema),
    summary: "Read an account's API usage of the last 30 days",
    description: 'By day (UTC), key and operation, latest day first. Nodes report their counts every 10 s.',
    tag: 'Keys',
    errors: ['NOT_FOUND'],
  },
  {
    method: 'POST',
    path: '/keys/:id/rotate',
    verb: rotateKey,
    summary: 'Replace an API key',
    description: 'Creates a new key with the label, expiry and restrictions of the old one, which stays valid for the overlap.',
    tag: 'Keys',
    status: 201,
    answer: (key: NewApiKey) => ({ data: key, message: 'Store the key now; it is shown only once' }),
    data: NewApiKeySchema,
    errors: ['INVALID_JSON', 'CONFLICT', 'NOT_FOUND'],
  },
  {
    method: 'PATCH',
    path: '/keys/:id',
    verb: changeKey,
    summary: "Change an API key's label, expiry or restrictions",
    description: 'Omitted fields stay unchanged. Takes effect on every node within a second. Expired or revoked keys cannot be changed.',
    tag: 'Keys',
    answer: (key: ApiKey) => ({ data: key, message: 'Key updated' }),
    data: ApiKeySchema,
    errors: ['INVALID_JSON', 'CONFLICT', 'NOT_FOUND'],
  },
  {
    method: 'DELETE',
    path: '/keys/:id',
    verb: revokeKey,
    summary: 'Revoke an API key',
    description: 'Every node rejects the key within a second. Revoking it again changes nothing.',
    tag: 'Keys',
    answer: (key: ApiKey) => ({ data: key, message: 'Key revoked' }),
    data: ApiKeySchema,
    errors: ['NOT_FOUND'],
  },
]
