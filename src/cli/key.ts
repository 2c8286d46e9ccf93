// The commands `key create`, `key set`, `key rotate`, `key revoke` and `key list`.
import { type Command, InvalidArgumentError } from 'commander'
import { changeKey } from '#accounts/keys/change-key.ts'
import { createKey } from '#accounts/keys/create-key.ts'
import { listKeys } from '#accounts/keys/list-keys.ts'
import { revokeKey } from '#accounts/keys/revoke-key.ts'
import { rotateKey } from '#accounts/keys/rotate-key.ts'
import type { ApiKey, NewApiKey } from '#accounts/credentials/credential-types.ts'
import { call } from '#core/verb.ts'
import { addCommand, allRows, columns, type OpenCli, type OutputOptions, type Print, printResult, wholeNumber } from './terminal/command.ts'

interface CreateOptions extends OutputOptions {
  account: number
  label?: string
  expires?: string
  readOnly?: boolean
  strict?: boolean
  origin?: string[]
  address?: string[]
}

interface SetOptions extends Omit<CreateOptions, 'account'> {
  anyOrigin?: boolean
  anyAddress?: boolean
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

  addCommand(key, 'create', 'create a key and print it; it is shown only once')
    .requiredOption('--account <id>', 'id of the account', wholeNumber)
    .option('--label <label>', 'label of the key')
    .option('--expires <time>', 'when it expires, such as 2027-01-31T12:00:00Z')
    .option('--read-only', 'make the key read-only')
    .option('--strict', 'refuse unknown query parameters')
    .option('--origin <origin...>', 'web pages that may use it, such as https://shop.example')
    .option('--address <range...>', 'addresses from which it may be used, such as 203.0.113.7 or 10.0.0.0/8')
    .action((options: CreateOptions) =>
      open(async (ctx) => {
        const created = await call(createKey, ctx, { account_id: options.account, ...fieldsOf(options) })
        printResult(print, options, created, describeKey(created))
      }),
    )

  addCommand(key, 'set', 'change the label, expiry or restrictions of a key')
    .argument('<id>', 'id of the key', wholeNumber)
    .option('--label <label>', 'label of the key')
    .option('--expires <time>', 'when it expires, such as 2027-01-31T12:00:00Z, or never')
    .option('--read-only', 'make the key read-only')
    .option('--no-read-only', 'allow changes again')
    .option('--strict', 'refuse unknown query parameters')
    .option('--no-strict', 'ignore unknown query parameters again')
    .option('--origin <origin...>', 'web pages that may use it; replaces the earlier list')
    .option('--any-origin', 'allow every origin')
    .option('--address <range...>', 'addresses from which it may be used; replaces the earlier list')
    .option('--any-address', 'allow every address')
    .action((id: number, options: SetOptions) =>
      open(async (ctx) => {
        const any = { ...(options.anyOrigin && { allowed_origins: [] }), ...(options.anyAddress && { allowed_addresses: [] }) }
        const changed = await call(changeKey, ctx, { id, ...fieldsOf(options), ...any })
        printResult(print, options, changed, `Key ${id} of account ${changed.account_id}: ${limitsInWords(changed)}`)
      }),
    )

  addCommand(key, 'rotate', 'replace a key: print a new one, shown only once, while the old one stays valid for the overlap')
    .argument('<id>', 'id of the old key', wholeNumber)
    .option('--overlap <duration>', 'how long the old key stays valid, such as 30m, 24h or 7d (default: 24h)', hours)
    .action((id: number, options: RotateOptions) =>
      open(async (ctx) => {
        const overlap = options.overlap === undefined ? {} : { overlap_hours: options.overlap }
        const created = await call(rotateKey, ctx, { id, ...overlap })
        printResult(print, options, created, describeKey(created))
      }),
    )

  addCommand(key, 'revoke', 'revoke a key')
    .argument('<id>', 'id of the key', wholeNumber)
    .action((id: number, options: OutputOptions) =>
      open(async (ctx) => {
        const revoked = await call(revokeKey, ctx, { id })
        printResult(print, options, revoked, `Key ${id} revoked at ${revoked.revoked_at}`)
      }),
    )

  addCommand(key, 'list', 'list the keys of an account, without secrets')
    .requiredOption('--account <id>', 'id of the account', wholeNumber)
    .action((options: ListOptions) =>
      open(async (ctx) => {
        const keys = await allRows((paging) => call(listKeys, ctx, { account_id: options.account, ...paging }))
        const lines = keys.map((k) => [
          k.id,
          k.label,
          `...${k.last4}`,
          limitsInWords(k),
          k.created_at,
          k.last_used_at?.slice(0, 10) ?? null,
          k.expires_at,
          k.revoked_at,
        ])
        printResult(print, options, keys, columns(['ID', 'LABEL', 'KEY', 'LIMITS', 'CREATED', 'LAST USED', 'EXPIRES', 'REVOKED'], lines))
      }),
    )
}

function hours(text: string): number {
  const match = /^(\d{1,6}(?:\.\d{1,6})?)([mhd])$/.exec(text)
  if (!match) throw new InvalidArgumentError('Must be a number with a unit, such as 30m, 24h or 7d.')
  return Number(match[1]) * HOURS[match[2] as keyof typeof HOURS]
}

/** The options as fields of the verbs; options that were not given are absent. */
function fieldsOf({ label, expires, readOnly, strict, origin, address }: Omit<SetOptions, 'anyOrigin' | 'anyAddress'>) {
  return {
    ...(label !== undefined && { label }),
    ...(expires !== undefined && { expires_at: expires === 'never' ? null : expires }),
    ...(readOnly !== undefined && { read_only: readOnly }),
    ...(strict !== undefined && { strict }),
    ...(origin && { allowed_origins: origin }),
    ...(address && { allowed_addresses: address }),
  }
}

function limitsInWords({ read_only: readOnly, strict, allowed_origins: origins, allowed_addresses: addresses }: ApiKey): string {
  const limits = [readOnly ? 'read-only' : '', strict ? 'strict' : '', ...origins, ...addresses].filter((limit) => limit !== '')
  return limits.length > 0 ? limits.join(' ') : 'no limits'
}

function describeKey({ id, account_id: accountId, key, expires_at: expiresAt }: NewApiKey): string {
  return `Key ${id} of account ${accountId}, ${expiresAt ? `until ${expiresAt}, ` : ''}shown only once:\n${key}`
}
