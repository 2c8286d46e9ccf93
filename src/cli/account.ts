// The commands `account create`, `account set` and `account list`.
import { type Command, Option } from 'commander'
import { changeAccount } from '#accounts/change-account.ts'
import { createAccount } from '#accounts/create-account.ts'
import { listAccounts } from '#accounts/list-accounts.ts'
import type { Account } from '#accounts/credentials/credential-types.ts'
import { type Plan, PLANS } from '#core/plans.ts'
import { call } from '#core/verb.ts'
import {
  addCommand,
  allRows,
  columns,
  type OpenCli,
  type OutputOptions,
  type Print,
  printResult,
  wholeNumber,
  wrongUsage,
} from './terminal/command.ts'

interface CreateOptions extends OutputOptions {
  name: string
  plan: Plan
  credits?: number
}

interface SetOptions extends OutputOptions {
  name?: string
  plan?: Plan
  suspend?: boolean
  resume?: boolean
}

export function register(program: Command, open: OpenCli, print: Print): void {
  const account = program.command('account').description('accounts of API consumers')

  addCommand(account, 'create', 'create an account')
    .requiredOption('--name <name>', 'name of the account')
    .addOption(planOption().makeOptionMandatory())
    .option('--credits <number>', 'initial highlight credits', wholeNumber)
    .action((options: CreateOptions) =>
      open(async (ctx) => {
        const { name, plan, credits } = options
        const grant = credits === undefined ? {} : { highlight_credits: credits }
        const created = await call(createAccount, ctx, { name, plan, ...grant })
        printResult(print, options, created, `Created ${describeAccount(created)}`)
      }),
    )

  addCommand(account, 'set', 'rename an account, change its plan, suspend or resume it')
    .argument('<id>', 'id of the account', wholeNumber)
    .option('--name <name>', 'new name')
    .addOption(planOption())
    .addOption(new Option('--suspend', 'reject its keys, hide its listings and pause its webhooks').conflicts('resume'))
    .option('--resume', 'accept its keys again')
    .action((id: number, options: SetOptions, command: Command) => {
      const { name, plan, suspend, resume } = options
      const values = {
        ...(name !== undefined && { name }),
        ...(plan && { plan }),
        ...((suspend || resume) && { suspended: suspend === true }),
      }
      if (Object.keys(values).length === 0) wrongUsage(command, 'give at least one of --name, --plan, --suspend, --resume')
      return open(async (ctx) => {
        const changed = await call(changeAccount, ctx, { id, ...values })
        printResult(print, options, changed, `Changed ${describeAccount(changed)}`)
      })
    })

  addCommand(account, 'list', 'list all accounts').action((options: OutputOptions) =>
    open(async (ctx) => {
      const accounts = await allRows((paging) => call(listAccounts, ctx, paging))
      const lines = accounts.map(({ id, name, plan, highlight_credits: credits, suspended, created_at: createdAt }) => {
        return [id, name, plan, credits, suspended ? 'suspended' : 'active', createdAt]
      })
      printResult(print, options, accounts, columns(['ID', 'NAME', 'PLAN', 'CREDITS', 'STATE', 'CREATED'], lines))
    }),
  )
}

function planOption(): Option {
  return new Option('--plan <plan>', 'plan of the account').choices(PLANS)
}

function describeAccount({ id, name, plan, highlight_credits: credits, suspended }: Account): string {
  return `account ${id} "${name}": ${plan}, ${credits} highlight credits${suspended ? ', suspended' : ''}`
}
