// The commands `imports` and `revert`: list imports and revert one.
import { type Command, Option } from 'commander'
import { call } from '#core/verb.ts'
import { listImports } from '#prices/imports/read-imports.ts'
import { revertImport } from '#imports/revert-import.ts'
import { IMPORT_STATUSES, type ImportSummary } from '#prices/imports/stored-imports.ts'
import { addCommand, allRows, columns, type OpenCli, type OutputOptions, type Print, printResult, wholeNumber } from './terminal/command.ts'

interface Which extends OutputOptions {
  status?: ImportSummary['status']
  format?: string
}

export function register(program: Command, open: OpenCli, print: Print): void {
  addCommand(program, 'imports', 'list imports, price posts and reverts, newest first')
    .addOption(new Option('--status <status>', 'only this state').choices(IMPORT_STATUSES))
    .option('--format <format>', 'only this format')
    .action(({ json, ...which }: Which) =>
      open(async (ctx) => {
        const batches = await allRows((paging) => call(listImports, ctx, { ...which, ...paging }))
        const lines = batches.map((b) => [b.id, b.format, b.file_name, b.status, b.created, b.updated, b.accepted, b.held, b.rejected, b.started_at])
        printResult(
          print,
          { ...(json && { json }) },
          batches,
          columns(['ID', 'FORMAT', 'FILE', 'STATUS', 'CREATED', 'UPDATED', 'PRICES', 'HELD', 'REJECTED', 'BEGUN'], lines),
        )
      }),
    )

  addCommand(program, 'revert', 'revert an import or a price post')
    .argument('<id>', 'id of the import (see: mintmark imports)', wholeNumber)
    .action((id: number, options: OutputOptions) =>
      open(async (ctx) => {
        const batch = await call(revertImport, ctx, { id })
        const items = batch.updated > 0 ? `, ${batch.updated} catalogue records` : ''
        printResult(print, options, batch, `Reverted import ${id} by import ${batch.id}; ${batch.accepted} prices${items} restored`)
      }),
    )
}
