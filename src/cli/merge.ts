// The commands `merge`, `merges` and `split`: merge two items into one, and split them again.
import type { Command } from 'commander'
import { call } from '#core/verb.ts'
import type { Batch } from '#identity/merge/batches.ts'
import { listMerges } from '#identity/merge/list-merges.ts'
import { mergeItem } from '#identity/merge/merge-item.ts'
import { revertBatch } from '#identity/revert-batch.ts'
import { addCommand, allRows, columns, type OpenCli, type OutputOptions, type Print, printResult, wholeNumber } from './terminal/command.ts'

export function register(program: Command, open: OpenCli, print: Print): void {
  addCommand(program, 'merge', 'merge an item into another one, which receives its prices, listings, sales and records')
    .argument('<id>', 'id of the item', wholeNumber)
    .requiredOption('--into <id>', 'id of the item to keep', wholeNumber)
    .action((id: number, { into, ...options }: OutputOptions & { into: number }) =>
      open(async (ctx) => {
        const merge = await call(mergeItem, ctx, { id, into })
        printResult(
          print,
          options,
          merge,
          `Merged item ${id} into item ${merge.into.id} by batch ${merge.batch_id}; revert it with: split ${merge.batch_id}`,
        )
      }),
    )

  addCommand(program, 'merges', 'list merges of items, newest first')
    .option('--item <id>', 'only this item', wholeNumber)
    .action(({ item, ...options }: OutputOptions & { item?: number }) =>
      open(async (ctx) => {
        const merges = await allRows((paging) => call(listMerges, ctx, { ...(item !== undefined && { item_id: item }), ...paging }))
        const lines = merges.map((m) => [m.id, `${m.from.id} ${m.from.name}`, `${m.into.id} ${m.into.name}`, m.author, m.at, m.undone_at])
        printResult(print, options, merges, columns(['ID', 'FROM', 'INTO', 'BY', 'AT', 'UNDONE'], lines))
      }),
    )

  addCommand(program, 'split', 'revert a merge, split or match')
    .argument('<id>', 'id of the batch (see: mintmark merges)', wholeNumber)
    .action((id: number, options: OutputOptions) =>
      open(async (ctx) => {
        const batch = await call(revertBatch, ctx, { id })
        printResult(print, options, batch, revertedText(batch))
      }),
    )
}

function revertedText({ batch_id: id, kind, from, into }: Batch): string {
  return kind === 'merge'
    ? `Reverted batch ${id}; item ${from.id} is restored`
    : `Reverted batch ${id}; item ${from.id} is merged into item ${into.id}`
}
