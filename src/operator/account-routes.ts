// Operator API: accounts, their credits and their keys.
import { addCredits } from '#accounts/add-credits.ts'
import { changeAccount } from '#accounts/change-account.ts'
import { changeKey } from '#accounts/change-key.ts'
import { createAccount } from '#accounts/create-account.ts'
import { createKey } from '#accounts/create-key.ts'
import { getAccount } from '#accounts/get-account.ts'
import { listAccounts } from '#accounts/list-accounts.ts'
import { listCredits } from '#accounts/list-credits.ts'
import { listKeys } from '#accounts/list-keys.ts'
import { listUsage } from '#accounts/list-usage.ts'
import { revokeKey } from '#accounts/revoke-key.ts'
import { rotateKey } from '#accounts/rotate-key.ts'
import {
  type Account,
  AccountSchema,
  type ApiKey,
  ApiKeySchema,
  type Balance,
  BalanceSchema,
  type CreditEntry,
  CreditEntrySchema,
  KeyUsageSchema,
  type NewApiKey,
  NewApiKeySchema,
} from '#accounts/types.ts'
import type { KeyUsageRow } from '#accounts/usage.ts'
import { Type } from '#core/input.ts'
import type { Page } from '#core/paging.ts'
import type { WriteCtx } from '#db/change.ts'
import type { Route } from '#http/route.ts'

export const accountRoutes: Route<WriteCtx>[] = [
  {
    method: 'POST',
    path: '/accounts',
    verb: createAccount,
    summary: 'Open an account',
    tag: 'Accounts',
    status: 201,
    answer: (account: Account) => ({ data: account, message: 'Account created' }),
    data: AccountSchema,
    errors: ['INVALID_JSON'],
  },
  {
    method: 'GET',
    path: '/accounts',
    verb: listAccounts,
    summary: 'All accounts, oldest first',
    tag: 'Accounts',
    answer: ({ rows, pagination }: Page<Account>) => ({ data: rows, pagination }),
    data: Type.Array(AccountSchema),
    paged: true,
  },
  {
    method: 'GET',
    path: '/accounts/:id',
    verb: getAccount,
    summary: 'One account',
    tag: 'Accounts',
    answer: (account: Account) => ({ data: account }),
    data: AccountSchema,
    errors: ['NOT_FOUND'],
  },
  {
    method: 'PATCH',
    path: '/accounts/:id',
    verb: changeAccount,
    summary: 'Rename an account, change its plan, suspend or resume it, let it bring listings in by file',
    description: 'A new plan and a suspension take effect on every node within a second, the intake of listings at once.',
    tag: 'Accounts',
    answer: (account: Account) => ({ data: account, message: 'Account updated' }),
    data: AccountSchema,
    errors: ['INVALID_JSON', 'NOT_FOUND'],
  },
  {
    method: 'POST',
    path: '/accounts/:id/credits',
    verb: addCredits,
    summary: 'Give or take highlight credits',
    description: 'The balance never falls below 0: taking more than there is answers 422.',
    tag: 'Accounts',
    answer: (balance: Balance) => ({ data: balance, message: 'Balance updated' }),
    data: BalanceSchema,
    errors: ['INVALID_JSON', 'NOT_FOUND'],
  },
  {
    method: 'GET',
    path: '/accounts/:id/credits',
    verb: listCredits,
    summary: "The ledger of an account's highlight credits, newest entry first",
    tag: 'Accounts',
    answer: ({ rows, pagination }: Page<CreditEntry>) => ({ data: rows, pagination }),
    data: Type.Array(CreditEntrySchema),
    paged: true,
    errors: ['NOT_FOUND'],
  },
  {
    method: 'POST',
    path: '/accounts/:account_id/keys',
    verb: createKey,
    summary: 'Make an API key',
    description: 'The key itself is in this answer only.',
    tag: 'Keys',
    status: 201,
    answer: (key: NewApiKey) => ({ data: key, message: 'Store the key now: it is not shown again' }),
    data: NewApiKeySchema,
    errors: ['INVALID_JSON', 'NOT_FOUND'],
  },
  {
    method: 'GET',
    path: '/accounts/:account_id/keys',
    verb: listKeys,
    summary: "An account's keys, without the keys themselves",
    tag: 'Keys',
    answer: ({ rows, pagination }: Page<ApiKey>) => ({ data: rows, pagination }),
    data: Type.Array(ApiKeySchema),
    paged: true,
    errors: ['NOT_FOUND'],
  },
  {
    method: 'GET',
    path: '/accounts/:account_id/usage',
    verb: listUsage,
    summary: "What an account's keys were used for in the last 30 days",
    description: 'By day (UTC), key and operation, latest day first. Each node adds what it has counted every 10 s.',
    tag: 'Keys',
    answer: ({ rows, pagination }: Page<KeyUsageRow>) => ({ data: rows, pagination }),
    data: Type.Array(KeyUsageSchema),
    paged: true,
    errors: ['NOT_FOUND'],
  },
  {
    method: 'POST',
    path: '/keys/:id/rotate',
    verb: rotateKey,
    summary: 'Replace an API key',
    description: 'Makes a new key with the label, expiry and limits of the old one, which runs on for the overlap.',
    tag: 'Keys',
    status: 201,
    answer: (key: NewApiKey) => ({ data: key, message: 'Store the key now: it is not shown again' }),
    data: NewApiKeySchema,
    errors: ['INVALID_JSON', 'CONFLICT', 'NOT_FOUND'],
  },
  {
    method: 'PATCH',
    path: '/keys/:id',
    verb: changeKey,
    summary: "Change an API key's label, expiry or limits",
    description: 'What is not named stays. Takes effect on every node within a second. A key that has ended cannot be changed.',
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
    description: 'It is refused on every node within a second. Revoking it again changes nothing.',
    tag: 'Keys',
    answer: (key: ApiKey) => ({ data: key, message: 'Key revoked' }),
    data: ApiKeySchema,
    errors: ['NOT_FOUND'],
  },
]
