// The commands `indices list`, `indices set` and `indices import`.
import { type Command, InvalidArgumentError } from 'commander'
import { ServiceError } from '#core/errors.ts'
import { textOf } from '#core/problems.ts'
import { call } from '#core/verb.ts'
import { INDEX_COLUMNS, indicesOfCsv } from '#prices/indices/indices-file.ts'
import { listIndices } from '#prices/indices/list-indices.ts'
import { setIndices } from '#prices/indices/set-indices.ts'
import { addCommand, allRows, columns, type OpenCli, type OutputOptions, type Print, printResult, rejectedLines } from './terminal/command.ts'
import { bytesAt } from './catalogue/files.ts'

interface Level {
  month: string
  value: number
}

export function register(program: Command, open: OpenCli, print: Print): void {
  const indices = program.command('indices').description('manage price indices by month, used for profits in real lira')

  addCommand(indices, 'list', 'list all months, newest first')
    .option('--index <index>', 'only this index')
    .action((options: OutputOptions & { index?: string }) =>
      open(async (ctx) => {
        const { index } = options
        const all = await allRows((paging) => call(listIndices, ctx, { ...paging, ...(index !== undefined && { index }) }))
        printResult(
          print,
          options,
          all,
          columns(
            ['MONTH', 'INDEX', 'VALUE'],
            all.map((row) => [row.month, row.index, row.value]),
          ),
        )
      }),
    )

  addCommand(indices, 'set', 'load months of an index, such as: indices set TRY_CPI 2026-09=3440.12 2026-10=3512.18')
    .argument('<index>', 'name of the index; TRY_CPI: consumer prices in lira')
    .argument('<month...>', 'month and level of the index', levelOf)
    .action((index: string, levels: Level[], options: OutputOptions) =>
      open(async (ctx) => {
        const loaded = await call(setIndices, ctx, { indices: levels.map((level) => ({ index, ...level })) })
        printResult(print, options, loaded, `Loaded ${loaded.indices} months`)
      }),
    )

  addCommand(indices, 'import', `load months from a CSV with the columns ${INDEX_COLUMNS.join(', ')}; if a row is invalid, none is loaded`)
    .argument('<file>', 'file; - for standard input; .gz is decompressed')
    .action((path: string, options: OutputOptions) =>
      open(async (ctx) => {
        try {
          const loaded = await call(setIndices, ctx, { indices: await indicesOfCsv({ bytes: bytesAt(path), fileName: null }, ctx.now()) })
          printResult(print, options, loaded, `Loaded ${loaded.indices} months`)
        } catch (error) {
          if (!(error instanceof ServiceError)) throw error
          const refused = error.details.map(({ field, ...why }) => ({ field, message: textOf(why) }))
          const lines = rejectedLines(error.details.map(textOf))
          printResult(
            print,
            options,
            { indices: 0, refused },
            ['No months loaded; correct these cells and import the file again:', ...lines].join('\n'),
          )
          process.exitCode = 1
        }
      }),
    )
}

function levelOf(text: string, earlier: Level[] = []): Level[] {
  const [, month, value] = /^(\d{4}-\d\d)=(\d{1,10}(?:\.\d{1,6})?)$/.exec(text) ?? []
  if (!month) throw new InvalidArgumentError('Must have the form 2026-10=3512.18.')
  return [...earlier, { month, value: Number(value) }]
}
