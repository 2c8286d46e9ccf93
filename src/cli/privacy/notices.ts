// The commands `notices add`, `notices list` and `notices decide`.
import { type Command, Option } from 'commander'
import { call } from '#core/verb.ts'
import { decideNotice } from '#market/notices/decide-notice.ts'
import { listNotices, receiveNotice } from '#market/notices/notices.ts'
import { readConfig } from '../../config.ts'
import { addCommand, allRows, columns, type OpenCli, type OutputOptions, type Print, printResult, wholeNumber } from '../terminal/command.ts'

interface AddOptions extends OutputOptions {
  listing: number
  who: string
  right: string
  evidence: string
}

interface DecideOptions extends OutputOptions {
  decision: 'hide' | 'keep'
  note: string
}

export function register(program: Command, open: OpenCli, print: Print): void {
  const notices = program.command('notices').description('notices of infringement about listings')

  addCommand(notices, 'add', 'record a notice')
    .requiredOption('--listing <id>', 'id of the listing', wholeNumber)
    .requiredOption('--who <text>', 'who gives notice, with an address')
    .requiredOption('--right <text>', 'the right that they claim')
    .requiredOption('--evidence <text>', 'what shows the infringement')
    .action(({ listing, who, right, evidence, ...options }: AddOptions) =>
      open(async (ctx) => {
        const config = readConfig()
        const notice = await call(receiveNotice, { ...ctx, market: config, config, precondition: null }, { listing, who, right, evidence })
        printResult(print, options, notice, `Recorded notice ${notice.id}, to be decided until ${notice.due_at}`)
      }),
    )

  addCommand(notices, 'list', 'list notices, open ones first').action((options: OutputOptions) =>
    open(async (ctx) => {
      const reading = { ...ctx, market: readConfig(), precondition: null }
      const rows = await allRows((paging) => call(listNotices, reading, paging))
      const lines = rows.map((row) => [row.id, row.listing ?? '-', row.overdue ? 'overdue' : row.state, row.due_at, row.right, row.who])
      printResult(print, options, rows, columns(['ID', 'LISTING', 'STATE', 'DUE', 'RIGHT', 'WHO'], lines))
    }),
  )

  addCommand(notices, 'decide', 'hide the listing of a notice, or keep it')
    .argument('<id>', 'id of the notice', wholeNumber)
    .addOption(new Option('--decision <decision>', 'hide or keep').choices(['hide', 'keep']).makeOptionMandatory())
    .requiredOption('--note <text>', 'reason; shown to the owner of a hidden listing')
    .action((id: number, { decision, note, ...options }: DecideOptions) =>
      open(async (ctx) => {
        const notice = await call(decideNotice, { ...ctx, market: readConfig(), precondition: null }, { id, decision, note })
        printResult(print, options, notice, `Notice ${id}: listing ${notice.state}`)
      }),
    )
}
