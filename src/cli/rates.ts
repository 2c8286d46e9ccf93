// The commands `rates list` and `rates set`.
import { type Command, InvalidArgumentError } from 'commander'
import { call } from '#core/verb.ts'
import { listRates } from '#prices/list-rates.ts'
import { setRates } from '#prices/set-rates.ts'
import { addCommand, allRows, columns, type OpenCli, type OutputOptions, type Print, show } from './command.ts'

interface Setting extends OutputOptions {
  day: string
}

type Rate = [currency: string, lira: number]

export function register(program: Command, open: OpenCli, print: Print): void {
  const rates = program.command('rates').description('exchange rates, by which prices of several currencies are compared')

  addCommand(rates, 'list', 'all rates, newest first').action((options: OutputOptions) =>
    open(async (ctx) => {
      const all = await allRows((paging) => call(listRates, ctx, paging))
      show(
        print,
        options,
        all,
        columns(
          ['DAY', 'CURRENCY', 'TRY'],
          all.map(({ day, currency, TRY }) => [day, currency, TRY]),
        ),
      )
    }),
  )

  addCommand(rates, 'set', 'load rates of a day, such as: rates set USD=41.87 EUR=48.31')
    .argument('<rate...>', 'currency and Turkish lira for one unit of it', rateOf)
    .option('--day <date>', 'from which they count', new Date().toISOString().slice(0, 10))
    .action((given: Rate[], options: Setting) =>
      open(async (ctx) => {
        const loaded = await call(setRates, ctx, { rates: given.map(([currency, TRY]) => ({ day: options.day, currency, TRY })) })
        show(print, options, loaded, `${loaded.rates} rates are loaded`)
      }),
    )
}

function rateOf(text: string, earlier: Rate[] = []): Rate[] {
  const [, currency, lira] = /^([A-Z]{3})=(\d{1,9}(?:\.\d{1,6})?)$/.exec(text) ?? []
  if (!currency) throw new InvalidArgumentError('It must be written like USD=41.87.')
  return [...earlier, [currency, Number(lira)]]
}
