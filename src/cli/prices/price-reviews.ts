// The commands `price-reviews ...` and `price-decisions ...`: prices under review, decisions about them, and undoing decisions.
import { type Command, Option } from 'commander'
import { type Market, MARKETS } from '#core/markets.ts'
import { call } from '#core/verb.ts'
import { decidePrices } from '#prices/reviews/decide-prices.ts'
import { listPriceDecisions } from '#prices/reviews/list-price-decisions.ts'
import { listPriceReviews } from '#prices/reviews/list-price-reviews.ts'
import { type Decision, DECISION_STATES, decisionText, HELD_DECISIONS, PUBLISHED_DECISIONS } from '#prices/reviews/price-decisions.ts'
import { CAUSES, REVIEW_STATES, type PriceReview, type ReviewFilter, SORTS } from '#prices/reviews/review-schemas.ts'
import { undoPriceDecision } from '#prices/reviews/undo-price-decision.ts'
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
  state?: ReviewFilter['state']
  cause?: ReviewFilter['cause']
  market?: Market
  label?: string
  game?: string
  category?: number
  item?: number
  import?: number
}

export function register(program: Command, open: OpenCli, print: Print): void {
  const reviews = program.command('price-reviews').description('review prices, held or published')

  chosen(addCommand(reviews, 'list', 'list prices under review by item and cause; default: held and disputed'))
    .addOption(new Option('--sort <by>', 'largest first').choices(SORTS))
    .action(({ sort, ...which }: Which & { sort?: (typeof SORTS)[number] }) =>
      open(async (ctx) => {
        const input = { ...filterOf(which), ...(sort && { sort_by: sort }) }
        const found = await allRows((paging) => call(listPriceReviews, ctx, { ...input, ...paging }))
        printResult(
          print,
          which,
          found,
          columns(['STATE', 'CAUSE', 'ITEM', 'LABEL', 'MARKET', 'PRICE', 'PRICE STATE', 'HELD ID', 'FLAGS'], found.flatMap(linesOf)),
        )
      }),
    )

  const held = { argument: '[id...]', description: 'ids of held prices' }
  for (const decision of HELD_DECISIONS) {
    const does = decision === 'accept' ? 'publish held prices' : 'discard held prices'
    chosen(addCommand(reviews, decision, `${does}, by id or by filters`).argument(held.argument, held.description, ids))
      .option('--expect <n>', 'number of prices the filters must match; rejected if it differs', wholeNumber)
      .action((heldIds: number[] | undefined, which: Which & { expect?: number }, command: Command) =>
        decide(decision, which, command, heldIds && heldIds.length > 0 ? { held_ids: heldIds } : null),
      )
  }
  for (const decision of PUBLISHED_DECISIONS) {
    const does = decision === 'confirm' ? 'confirm published prices as correct' : 'withdraw published prices'
    chosen(addCommand(reviews, decision, does))
      .option('--price <amount>', 'amount of one price, with --item, --market and --label', Number)
      .option('--expect <n>', 'number of prices the filters must match; rejected if it differs', wholeNumber)
      .action(({ price, ...which }: Which & { price?: number; expect?: number }, command: Command) => {
        if (price === undefined) return decide(decision, which, command, null)
        const { item, market, label, expect, json, ...rest } = which
        if (item === undefined || market === undefined || label === undefined || expect !== undefined || Object.keys(rest).length > 0) {
          wrongUsage(command, '--price needs --item, --market and --label')
        }
        return decide(decision, { ...(json && { json }) }, command, { prices: [{ item_id: item, market, label, price }] })
      })
  }

  function decide(decision: Decision, { expect, ...which }: Which & { expect?: number }, command: Command, named: object | null): Promise<void> {
    const filter = filterOf(which)
    const isChosen = Object.keys(filter).length > 0
    if (named ? isChosen || expect !== undefined : !isChosen || expect === undefined) {
      wrongUsage(command, 'give prices, or filters together with --expect')
    }
    const state = (HELD_DECISIONS as readonly string[]).includes(decision) ? { state: 'held' } : {}
    return open(async (ctx) => {
      const decided = await call(decidePrices, ctx, { decision, ...(named ?? { filter: { ...state, ...filter }, expected: expect! }) })
      printResult(print, which, decided, decisionText(decided))
    })
  }

  registerDecisions(program, open, print)
}

function registerDecisions(program: Command, open: OpenCli, print: Print): void {
  const decisions = program.command('price-decisions').description('review decisions about prices')

  addCommand(decisions, 'list', 'list decisions, newest first')
    .addOption(new Option('--state <state>', 'only this state').choices(DECISION_STATES))
    .action(({ json, ...filter }: OutputOptions & { state?: (typeof DECISION_STATES)[number] }) =>
      open(async (ctx) => {
        const all = await allRows((paging) => call(listPriceDecisions, ctx, { ...filter, ...paging }))
        const lines = all.map((one) => [one.id, one.decision, one.prices, one.items, one.item?.name ?? null, one.author, one.at, one.undone_at])
        printResult(
          print,
          { ...(json && { json }) },
          all,
          columns(['ID', 'DECISION', 'PRICES', 'ITEMS', 'FIRST ITEM', 'BY', 'AT', 'UNDONE AT'], lines),
        )
      }),
    )

  addCommand(decisions, 'undo', 'undo a decision; prices changed since then stay unchanged')
    .argument('<id>', 'id of the decision', wholeNumber)
    .action((id: number, options: OutputOptions) =>
      open(async (ctx) => {
        const undone = await call(undoPriceDecision, ctx, { id })
        printResult(print, options, undone, decisionText(undone))
      }),
    )
}

function ids(text: string, earlier: number[] = []): number[] {
  return [...earlier, positive(text)]
}

function chosen(command: Command): Command {
  return command
    .addOption(new Option('--state <state>', 'only this state').choices(REVIEW_STATES))
    .addOption(new Option('--cause <cause>', 'only prices held by this rule, or with this as their first flag').choices(CAUSES))
    .addOption(new Option('--market <market>', 'only this market').choices(MARKETS))
    .option('--label <label>', 'only this condition or grade')
    .option('--game <game>', 'only this game')
    .option('--category <id>', 'only this category and those below it', positive)
    .option('--item <id>', 'only this item', positive)
    .option('--import <id>', 'only prices of this import', positive)
}

function filterOf({ json: _json, category, item, import: importId, ...rest }: Which): ReviewFilter {
  return {
    ...rest,
    ...(category !== undefined && { category_id: category }),
    ...(item !== undefined && { item_id: item }),
    ...(importId !== undefined && { import_id: importId }),
  }
}

function linesOf({ item, state, cause, prices }: PriceReview): (string | number | null)[][] {
  const name = `${item.id} ${item.name}`
  return prices.map((one) => [state, cause, name, one.label, one.market, `${one.price} ${one.currency}`, one.state, one.held_id, one.flags.join(' ')])
}
