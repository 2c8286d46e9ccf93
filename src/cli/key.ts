// The commands `key create`, `key rotate`, `key revoke` and `key list`.
import { type Command, InvalidArgumentError } from 'commander'
import { createKey } from '#accounts/create-key.ts'
import { listKeys } from '#accounts/list-keys.ts'
import { revokeKey } from '#accounts/revoke-key.ts'
import { rotateKey } from '#accounts/rotate-key.ts'
import type { NewApiKey } from '#accounts/types.ts'
import { call } from '#core/verb.ts'
import { addCommand, allRows, columns, type OpenCli, type OutputOptions, type Print, show, wholeNumber } from './command.ts'

interface CreateOptions extends OutputOptions {
  account: number
  label?: string
  expires?: string
}

interface RotateOptions extends OutputOptions {
  overlap?: number
}

interface ListOptions extends OutputOptions {
  account: number
}

const HOURS = { m: 1 / 60, h: 1, d: 24 } as const

export function register(program: Command, open: OpenCli, print: Print): void {
  const key = program.command('key').description('API keys of an account')

  addCommand(key, 'create', 'make a key and print it, this once')
    .requiredOption('--account <id>', 'id of the account', wholeNumber)
    .option('--label <label>', 'what the key is for')
    .option('--expires <time>', 'when it ends, such as 2027-01-31T12:00:00Z')
    .action((options: CreateOptions) =>
      open(async (ctx) => {
        const { account, label, expires } = options
        const given = { ...(label !== undefined && { label }), ...(expires !== undefined && { expires_at: expires }) }
        const created = await call(createKey, ctx, { account_id: account, ...given })
        show(print, options, created, inWords(created))
      }),
    )

  addCommand(key, 'rotate', 'make a new key for an old one, which runs on for the overlap, and print it, this once')
    .argument('<id>', 'id of the old key', wholeNumber)
    .option('--overlap <duration>', 'how long the old key runs on, such as 30m, 24h, 7d (24h unless given)', hours)
    .action((id: number, options: RotateOptions) =>
      open(async (ctx) => {
        const overlap = options.overlap === undefined ? {} : { overlap_hours: options.overlap }
        const created = await call(rotateKey, ctx, { id, ...overlap })
        show(print, options, created, inWords(created))
      }),
    )

  addCommand(key, 'revoke', 'refuse a key from now on')
    .argument('<id>', 'id of the key', wholeNumber)
    .action((id: number, options: OutputOptions) =>
      open(async (ctx) => {
        const revoked = await call(revokeKey, ctx, { id })
        show(print, options, revoked, `Key ${id} is revoked since ${revoked.revoked_at}`)
      }),
    )

  addCommand(key, 'list', 'the keys of an account, without the keys themselves')
    .requiredOption('--account <id>', 'id of the account', wholeNumber)
    .action((options: ListOptions) =>
      open(async (ctx) => {
        const keys = await allRows((paging) => call(listKeys, ctx, { account_id: options.account, ...paging }))
        const lines = keys.map((k) => [k.id, k.label, `...${k.last4}`, k.created_at, k.last_used_at, k.expires_at, k.revoked_at])
        show(print, options, keys, columns(['ID', 'LABEL', 'KEY', 'CREATED', 'LAST USED', 'EXPIRES', 'REVOKED'], lines))
      }),
    )
}

function hours(text: string): number {
  const match = /^(\d{1,6}(?:\.\d{1,6})?)([mhd])$/.exec(text)
  if (!match) throw new InvalidArgumentError('It must be a number with a unit, such as 30m, 24h or 7d.')
  return Number(match[1]) * HOURS[match[2] as keyof typeof HOURS]
}

function inWords({ id, account_id: accountId, key, expires_at: expiresAt }: NewApiKey): string {
  return `Key ${id} of account ${accountId}, ${expiresAt ? `until ${expiresAt}, ` : ''}not shown again:\n${key}`
}
