// The commands `usual-ratios ...`: ratios between markets that are too far from the game's, and decisions about them.
import { type Command, InvalidArgumentError, Option } from 'commander'
import { type Market, MARKETS } from '#core/markets.ts'
import { call } from '#core/verb.ts'
import { RATIO_STATES } from '#prices/evidence/ratios.ts'
import { confirmUsualRatio, rejectUsualRatio } from '#prices/reviews/decide-usual-ratio.ts'
import { listUsualRatios } from '#prices/reviews/list-usual-ratios.ts'
import { addCommand, allRows, columns, type OpenCli, type OutputOptions, type Print, printResult, wholeNumber } from '../terminal/command.ts'

interface Which extends OutputOptions {
  category: number
  finish?: string
  market: Market
  otherMarket: Market
  ratio: number
}

export function register(program: Command, open: OpenCli, print: Print): void {
  const ratios = program.command('usual-ratios').description('decide about ratios of sets between markets that are far from those of the game')

  addCommand(ratios, 'list', 'list these ratios, furthest first')
    .addOption(new Option('--state <state>', 'only this state').choices(RATIO_STATES))
    .action(({ json, state }: OutputOptions & { state?: (typeof RATIO_STATES)[number] }) =>
      open(async (ctx) => {
        const all = await allRows((paging) => call(listUsualRatios, ctx, { ...paging, ...(state && { state }) }))
        const lines = all.map((one) => [
          one.state,
          `${one.category_id} ${one.category}`,
          one.finish,
          one.market,
          one.other_market,
          ...[one.ratio, one.game_ratio, one.applied_ratio].map(rounded),
          one.cards,
        ])
        printResult(
          print,
          { ...(json && { json }) },
          all,
          columns(['STATE', 'SET', 'FINISH', 'MARKET', 'OTHER MARKET', 'RATIO', 'OF GAME', 'APPLIED', 'CARDS'], lines),
        )
      }),
    )

  for (const [name, does, verb] of [
    ['confirm', 'apply the ratio of a set', confirmUsualRatio],
    ['reject', 'judge the prices of a set by the ratio of the game', rejectUsualRatio],
  ] as const) {
    addCommand(ratios, name, does)
      .requiredOption('--category <id>', 'id of the set', wholeNumber)
      .option('--finish <finish>', 'finish of the items; none by default')
      .addOption(new Option('--market <market>', 'first market as listed').choices(MARKETS).makeOptionMandatory())
      .addOption(new Option('--other-market <market>', 'second market as listed').choices(MARKETS).makeOptionMandatory())
      .requiredOption('--ratio <ratio>', 'the ratio as listed; rejected if it has changed since', ratioOf)
      .action(({ category, finish, market, otherMarket, ratio, ...options }: Which) =>
        open(async (ctx) => {
          const input = { category_id: category, finish: finish ?? null, market, other_market: otherMarket, ratio }
          const decided = await call(verb, ctx, input)
          printResult(print, options, decided, `Ratio of ${decided.category} ${decided.state}; applied: ${rounded(decided.applied_ratio)}`)
        }),
      )
  }
}

function rounded(ratio: number): number {
  return Number(ratio.toPrecision(4))
}

function ratioOf(text: string): number {
  const ratio = Number(text)
  if (!(ratio > 0 && ratio < Infinity)) throw new InvalidArgumentError('Must be a number above 0.')
  return ratio
}
