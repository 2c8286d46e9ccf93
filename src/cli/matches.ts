// The commands `matches ...`: pending records and sets, and decisions about them.
import { type Command, Option } from 'commander'
import { call } from '#core/verb.ts'
import { acceptMatch } from '#identity/review/accept-match.ts'
import { acceptSetMatch, separateSetMatch, withdrawSetMatch } from '#identity/review/decide-set-match.ts'
import { listMatches, listSetMatches } from '#identity/review/read-matches.ts'
import { MATCH_STATES, type Match, type MatchFilter } from '#identity/review/matches.ts'
import { postponeMatch } from '#identity/review/postpone-match.ts'
import { REASON_RULES } from '#identity/review/reason-text.ts'
import { separateMatch } from '#identity/review/separate-match.ts'
import { SET_MATCH_STATES, type SetMatch, type SetMatchFilter } from '#identity/review/set-matches.ts'
import { withdrawMatch } from '#identity/review/withdraw-match.ts'
import { addCommand, allRows, columns, type OpenCli, type OutputOptions, type Print, printResult, wholeNumber } from './terminal/command.ts'

export function register(program: Command, open: OpenCli, print: Print): void {
  const matches = program.command('matches').description('review source records that could not be matched to an item')

  addCommand(matches, 'list', 'list pending records with the items they resemble')
    .option('--game <game>', 'only this game')
    .option('--source <source>', 'only records of this source, such as pokemontcg')
    .option('--set <set>', 'ref or name of the set')
    .addOption(new Option('--reason <rule>', 'pending because of this rule').choices(REASON_RULES))
    .addOption(new Option('--state <state>', 'default: waiting').choices(MATCH_STATES))
    .action(({ json, ...filter }: OutputOptions & MatchFilter) =>
      open(async (ctx) => {
        const found = await allRows((paging) => call(listMatches, ctx, { ...filter, ...paging }))
        printResult(print, { json }, found, columns(['ID', 'SOURCE', 'RECORD', 'NAME', 'NUMBER', 'REASON', 'CANDIDATES'], found.map(lineOf)))
      }),
    )

  addCommand(matches, 'accept', 'match a record to an item')
    .argument('<id>', 'id of the match', wholeNumber)
    .requiredOption('--item <id>', 'id of the item that matches the record', wholeNumber)
    .action((id: number, { item, ...options }: OutputOptions & { item: number }) =>
      open(async (ctx) => {
        const match = await call(acceptMatch, ctx, { id, item_id: item })
        printResult(print, options, match, `Match ${id} accepted; the record is item ${match.decision!.item_id}`)
      }),
    )

  addCommand(matches, 'separate', 'make a record a separate item')
    .argument('<id>', 'id of the match', wholeNumber)
    .action((id: number, options: OutputOptions) =>
      open(async (ctx) => {
        const match = await call(separateMatch, ctx, { id })
        printResult(print, options, match, `Match ${id} separated; the record is item ${match.decision!.item_id}`)
      }),
    )

  addCommand(matches, 'postpone', 'postpone a match')
    .argument('<id>', 'id of the match', wholeNumber)
    .action((id: number, options: OutputOptions) =>
      open(async (ctx) => printResult(print, options, await call(postponeMatch, ctx, { id }), `Match ${id} postponed`)),
    )

  addCommand(matches, 'withdraw', 'withdraw a decision about a match, or its postponement')
    .argument('<id>', 'id of the match', wholeNumber)
    .action((id: number, options: OutputOptions) =>
      open(async (ctx) => {
        const match = await call(withdrawMatch, ctx, { id })
        printResult(print, options, match, match ? `Match ${id} is pending again` : 'Decision withdrawn; a rule now matches the record')
      }),
    )

  registerSets(matches, open, print)
}

function registerSets(matches: Command, open: OpenCli, print: Print): void {
  addCommand(matches, 'sets', 'review sets that could be a set of another source')
    .option('--game <game>', 'only this game')
    .addOption(new Option('--state <state>', 'default: waiting').choices(SET_MATCH_STATES))
    .action(({ json, ...filter }: OutputOptions & SetMatchFilter) =>
      open(async (ctx) => {
        const found = await allRows((paging) => call(listSetMatches, ctx, { ...filter, ...paging }))
        printResult(print, { json }, found, columns(['ID', 'REF', 'NAME', 'WAITING', 'RESEMBLES'], found.map(setLineOf)))
      }),
    )

  addCommand(matches, 'accept-set', 'map a set to a set of another source')
    .argument('<id>', 'id of the set', wholeNumber)
    .option('--set <id>', 'id of the matching set; optional if there is only one candidate', wholeNumber)
    .action((id: number, { set, ...options }: OutputOptions & { set?: number }) =>
      open(async (ctx) => {
        const match = await call(acceptSetMatch, ctx, { id, ...(set !== undefined && { set_id: set }) })
        printResult(print, options, match, `Set ${id} mapped; ${match.waiting} of its cards are still pending`)
      }),
    )

  addCommand(matches, 'separate-set', 'make a set a separate set')
    .argument('<id>', 'id of the set', wholeNumber)
    .action((id: number, options: OutputOptions) =>
      open(async (ctx) => {
        const match = await call(separateSetMatch, ctx, { id })
        printResult(print, options, match, `Set ${id} separated; ${match.waiting} of its cards are still pending`)
      }),
    )

  addCommand(matches, 'withdraw-set', 'withdraw all decisions about a set')
    .argument('<id>', 'id of the set', wholeNumber)
    .action((id: number, options: OutputOptions) =>
      open(async (ctx) => printResult(print, options, await call(withdrawSetMatch, ctx, { id }), `Decisions about set ${id} withdrawn`)),
    )
}

function lineOf({ id, record, reasons, candidates }: Match): (string | number | null)[] {
  const shown = candidates.slice(0, 3).map(({ item }) => `${item.id} ${item.name}`)
  return [
    id,
    record.source,
    record.foreign_id,
    record.name,
    record.code,
    reasons.map(({ text }) => text).join('; '),
    shown.join(', ') + (candidates.length > 3 ? ', ...' : ''),
  ]
}

function setLineOf({ id, set, waiting, candidates }: SetMatch): (string | number | null)[] {
  return [id, set.ref, set.name, waiting, candidates.map(({ set: other, agree, of }) => `${other.id} ${other.name} (${agree} of ${of})`).join(', ')]
}
