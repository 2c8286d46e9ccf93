// The commands `held list`, `held accept` and `held discard`.
import { type Command, Option } from 'commander'
import { type Market, MARKETS } from '#core/markets.ts'
import { call } from '#core/verb.ts'
import { acceptHeldPrice, discardHeldPrice } from '#prices/reviews/decide-held-price.ts'
import { acceptHeldPrices, discardHeldPrices } from '#prices/reviews/decide-held-prices.ts'
import { listHeldPrices } from '#prices/reviews/list-held-prices.ts'
import { RULE_NAMES, type RuleName } from '#prices/evidence/hold.ts'
import {
  addCommand,
  allRows,
  columns,
  type OpenCli,
  type OutputOptions,
  positive,
  type Print,
  printResult,
  wholeNumber,
  wrongUsage,
} from '../terminal/command.ts'

interface Which extends OutputOptions {
  rule?: RuleName
  market?: Market
  import?: number
  item?: number
}

export function register(program: Command, open: OpenCli, print: Print): void {
  const held = program.command('held').description('review held prices')

  chosen(addCommand(held, 'list', 'list held prices, largest deviation first')).action((which: Which) =>
    open(async (ctx) => {
      const prices = await allRows((paging) => call(listHeldPrices, ctx, { ...filterOf(which), ...paging }))
      const lines = prices.map((p) => [p.id, p.rule, `${p.item.id} ${p.item.name}`, p.market, p.label, p.price, p.times_off, p.reason])
      printResult(print, which, prices, columns(['ID', 'RULE', 'ITEM', 'MARKET', 'LABEL', 'PRICE', 'TIMES OFF', 'REASON'], lines))
    }),
  )

  decision(held, open, print, 'accept', 'publish one held price, or all that match the filters', { one: acceptHeldPrice, many: acceptHeldPrices })
  decision(held, open, print, 'discard', 'discard one held price, or all that match the filters', { one: discardHeldPrice, many: discardHeldPrices })
}

function decision(
  held: Command,
  open: OpenCli,
  print: Print,
  name: 'accept' | 'discard',
  description: string,
  { one, many }: { one: typeof discardHeldPrice; many: typeof discardHeldPrices },
): void {
  chosen(addCommand(held, name, description).argument('[id]', 'id of a held price', wholeNumber)).action(
    (id: number | undefined, which: Which, command: Command) => {
      const filter = filterOf(which)
      const choices = Object.keys(filter).length
      if ((id === undefined) === (choices === 0)) wrongUsage(command, 'give either an id or at least one of --rule, --market, --import, --item')
      return open(async (ctx) => {
        if (id !== undefined) {
          const decided = await call(one, ctx, { id })
          printResult(print, which, decided, `Held price ${id} is ${decided.state}`)
        } else {
          const { decided } = await call(many, ctx, filter)
          printResult(print, which, { decided }, `${decided} held prices are ${name}ed`)
        }
      })
    },
  )
}

function chosen(command: Command): Command {
  return command
    .addOption(new Option('--rule <rule>', 'only prices held by this rule').choices(RULE_NAMES))
    .addOption(new Option('--market <market>', 'only this market').choices(MARKETS))
    .option('--import <id>', 'only this import', positive)
    .option('--item <id>', 'only this item', positive)
}

function filterOf({ rule, market, import: importId, item }: Which): object {
  return {
    ...(rule && { rule }),
    ...(market && { market }),
    ...(importId !== undefined && { import_id: importId }),
    ...(item !== undefined && { item_id: item }),
  }
}
