// The commands `operator-token create`, `operator-token revoke` and `operator-token list`.
import type { Command } from 'commander'
import { createOperatorToken, listOperatorTokens, revokeOperatorToken } from '#accounts/keys/operator-tokens.ts'
import { call } from '#core/verb.ts'
import { addCommand, allRows, columns, type OpenCli, type OutputOptions, type Print, printResult, wholeNumber } from './terminal/command.ts'

interface CreateOptions extends OutputOptions {
  label: string
}

export function register(program: Command, open: OpenCli, print: Print): void {
  const token = program.command('operator-token').description('manage tokens for the operator API and the console')

  addCommand(token, 'create', 'create a token and print it; it is shown only once')
    .requiredOption('--label <label>', 'who or what uses it')
    .action((options: CreateOptions) =>
      open(async (ctx) => {
        const created = await call(createOperatorToken, ctx, { label: options.label })
        printResult(print, options, created, `Operator token ${created.id} "${created.label}"; shown only once:\n${created.token}`)
      }),
    )

  addCommand(token, 'revoke', 'revoke a token')
    .argument('<id>', 'id of the token', wholeNumber)
    .action((id: number, options: OutputOptions) =>
      open(async (ctx) => {
        const revoked = await call(revokeOperatorToken, ctx, { id })
        printResult(print, options, revoked, `Operator token ${id} revoked at ${revoked.revoked_at}`)
      }),
    )

  addCommand(token, 'list', 'list all tokens, without secrets').action((options: OutputOptions) =>
    open(async (ctx) => {
      const tokens = await allRows((paging) => call(listOperatorTokens, ctx, paging))
      const lines = tokens.map((t) => [t.id, t.label, `...${t.last4}`, t.created_at, t.last_used_at, t.revoked_at])
      printResult(print, options, tokens, columns(['ID', 'LABEL', 'TOKEN', 'CREATED', 'LAST USED', 'REVOKED'], lines))
    }),
  )
}
