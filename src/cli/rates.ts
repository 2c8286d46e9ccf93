// The commands `rates list`, `rates set` and `rates import`.
import { type Command, InvalidArgumentError, Option } from 'commander'
import { call } from '#core/verb.ts'
import { importRates } from '#prices/rates/import-rates.ts'
import { listRates } from '#prices/rates/list-rates.ts'
import { setRates } from '#prices/rates/set-rates.ts'
import { addCommand, allRows, columns, type OpenCli, type OutputOptions, type Print, printResult, rejectedLines } from './terminal/command.ts'
import { bytesAt } from './catalogue/files.ts'

interface Setting extends OutputOptions {
  date?: string
  day?: string
}

type Rate = [currency: string, lira: number]

export function register(program: Command, open: OpenCli, print: Print): void {
  const rates = program.command('rates').description('manage exchange rates, used to compare prices in different currencies')

  addCommand(rates, 'list', 'list all rates, newest first')
    .option('--currency <currency>', 'only this currency')
    .action((options: OutputOptions & { currency?: string }) =>
      open(async (ctx) => {
        const { currency } = options
        const all = await allRows((paging) => call(listRates, ctx, { ...paging, ...(currency !== undefined && { currency }) }))
        printResult(
          print,
          options,
          all,
          columns(
            ['DAY', 'CURRENCY', 'TRY'],
            all.map(({ day, currency, rate }) => [day, currency, rate]),
          ),
        )
      }),
    )

  addCommand(rates, 'set', 'load rates, such as: rates set USD=41.87 EUR=48.31')
    .argument('<rate...>', 'currency and its price in Turkish lira', rateOf)
    .option('--date <date>', 'first day the rates apply; default: today')
    .addOption(new Option('--day <date>', 'deprecated alias of --date').hideHelp().conflicts('date'))
    .action((newRates: Rate[], options: Setting) =>
      open(async (ctx) => {
        const day = options.date ?? options.day ?? ctx.now().toISOString().slice(0, 10)
        const loaded = await call(setRates, ctx, { rates: newRates.map(([currency, rate]) => ({ currency, day, rate })) })
        printResult(print, options, loaded, `Loaded ${loaded.rates} rates`)
      }),
    )

  addCommand(rates, 'import', 'load rates from a CSV with the columns currency, day and rate')
    .argument('<file>', 'file; - for standard input; .gz is decompressed')
    .action((path: string, options: OutputOptions) =>
      open(async (ctx) => {
        const report = await call(importRates, ctx, { file: { bytes: bytesAt(path), fileName: null } })
        const lines = rejectedLines(report.refused.map(({ line, message }) => `${line}: ${message}`))
        printResult(print, options, report, [`Loaded ${report.rates} rates; ${report.refused.length} rows refused`, ...lines].join('\n'))
      }),
    )
}

function rateOf(text: string, earlier: Rate[] = []): Rate[] {
  const [, currency, lira] = /^([A-Z]{3})=(\d{1,9}(?:\.\d{1,6})?)$/.exec(text) ?? []
  if (!currency) throw new InvalidArgumentError('Must have the form USD=41.87.')
  return [...earlier, [currency, Number(lira)]]
}
