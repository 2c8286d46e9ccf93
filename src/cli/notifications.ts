// The command `notifications list`.
import type { Command } from 'commander'
import { call } from '#core/verb.ts'
import { listNotifications } from '#notifications/read-notifications.ts'
import { addCommand, allRows, columns, type OpenCli, type OutputOptions, type Print, printResult } from './terminal/command.ts'

export function register(program: Command, open: OpenCli, print: Print): void {
  const notifications = program.command('notifications').description('notifications about the service')

  addCommand(notifications, 'list', 'list open notifications, latest change first')
    .option('--all', 'also resolved ones')
    .action((options: OutputOptions & { all?: boolean }) =>
      open(async (ctx) => {
        const filter = options.all ? {} : { state: 'open' }
        const all = await allRows((paging) => call(listNotifications, ctx, { ...filter, ...paging }))
        const rows = all.map(({ since, severity, subject, node, state, found }) => [
          since.slice(0, 16).replace('T', ' '),
          state === 'open' ? severity : state,
          node === null ? subject : `${subject} (${node})`,
          found,
        ])
        printResult(print, options, all, columns(['SINCE', 'SEVERITY', 'ABOUT', 'FOUND'], rows))
      }),
    )
}
