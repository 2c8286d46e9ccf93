// The command `breach`: ends all access to an account, of the people with a role, or to everything.
import { type Command, Option } from 'commander'
import { ROLES, type Role } from '#core/roles.ts'
import { openSealing } from '#core/sealing.ts'
import { call } from '#core/verb.ts'
import { secretKeyOf } from '#db/secret-key.ts'
import { respondToBreach } from '#privacy/respond-to-breach.ts'
import { readConfig } from '../../config.ts'
import { addCommand, type OpenCli, type OutputOptions, type Print, printResult, wholeNumber, wrongUsage } from '../terminal/command.ts'
import { openLog } from '../terminal/log.ts'

interface BreachOptions extends OutputOptions {
  account?: number
  role?: Role
  all?: boolean
  reason: string
}

export function register(program: Command, open: OpenCli, print: Print): void {
  addCommand(program, 'breach', 'end sessions, revoke keys and tokens, and replace webhook secrets, after a breach')
    .option('--account <id>', 'of this account', wholeNumber)
    .addOption(new Option('--role <role>', 'of the people with this role').choices(ROLES))
    .option('--all', 'of every account and person')
    .requiredOption('--reason <text>', 'what happened')
    .action(({ account, role, all, reason, ...options }: BreachOptions, command: Command) => {
      const scope = { ...(account !== undefined && { account_id: account }), ...(role && { role }), ...(all && { all: true }) }
      if (Object.keys(scope).length !== 1) wrongUsage(command, 'give one of --account, --role, --all')
      return open(async (ctx) => {
        const log = await openLog('warn', { sync: true })
        const sealing = openSealing(secretKeyOf(readConfig(), log), 'mintmark webhook secrets')
        const report = await call(respondToBreach, { ...ctx, webhooks: { sealing } }, { ...scope, reason })
        const { sessions, keys, tokens, webhook_secrets: secrets } = report.ended
        const lines = [
          `Ended ${sessions} sessions, revoked ${keys} keys and ${tokens} tokens, replaced ${secrets} webhook secrets`,
          ...report.tell.accounts.map(({ id, name }) => `Tell account ${id} "${name}"`),
          ...(report.tell.accounts_total > report.tell.accounts.length ? [`Tell all ${report.tell.accounts_total} accounts`] : []),
          ...report.tell.people.map(({ id, name }) => `Tell person ${id} "${name}"`),
          ...(report.to_do.length > 0 ? [`Left to do: ${report.to_do.join(', ')}`] : []),
        ]
        printResult(print, options, report, lines.join('\n'))
      })
    })
}
