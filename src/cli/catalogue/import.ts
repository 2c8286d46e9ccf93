// The command `import`: files of any format into the catalogue, with a progress bar on a terminal.
import { Argument, type Command, Option } from 'commander'
import { monotonicMs } from '#core/process/time-and-chance.ts'
import { type Market, MARKETS } from '#core/markets.ts'
import { textOf } from '#core/problems.ts'
import { call } from '#core/verb.ts'
import { importFiles } from '#imports/import-files.ts'
import { IMPORT_FORMATS } from '#imports/registry.ts'
import { ENCODINGS, YEARS } from '#prices/records/mappings.ts'
import type { ImportReport } from '#imports/run.ts'
import type { RefusedRow } from '#prices/imports/refusals.ts'
import { addCommand, type OpenCli, type OutputOptions, type Print, printResult } from '../terminal/command.ts'
import { fileAt } from './files.ts'

interface ImportOptions extends OutputOptions {
  map?: string[]
  mapName?: string
  saveMap?: string
  only?: string
  currency?: string
  decimal?: string
  encoding?: string
  years?: string
  conditionKnown?: 'true' | 'false'
  entries?: string
  market?: Market
  dryRun?: boolean
  acceptDrift?: boolean
}

/** Maximum reasons of rejected rows that are printed; the JSON output has all. */
const SHOWN_REASONS = 20

export function register(program: Command, open: OpenCli, print: Print): void {
  addCommand(program, 'import', 'import files; several files of one catalogue are read in the right order')
    .addArgument(new Argument('<format>', 'format of the files').choices(IMPORT_FORMATS.map((format) => format.name)))
    .argument('<file...>', 'files; - for standard input; .gz is decompressed')
    .addOption(new Option('--market <market>', "market to import into; default: the format's market").choices(MARKETS))
    .option('--dry-run', 'only report, change nothing')
    .option('--accept-drift', 'import a price list although its prices are off as a whole')
    .option(
      '--map <pairs>',
      'column mapping for prices-csv and prices-ndjson, repeatable, such as price=eur_price,set=set,number=number,name=name',
      (pairs: string, before: string[] | undefined) => [...(before ?? []), pairs],
    )
    .option('--map-name <name>', 'saved mapping')
    .option('--save-map <name>', 'save the mapping under this name')
    .option('--currency <code>', "currency of the prices; default: the market's")
    .option('--only <pairs>', 'only import rows with these values, such as type=Card')
    .option('--decimal <sign>', 'decimal separator, . or ,')
    .option('--encoding <name>', `${ENCODINGS.join(' or ')}`)
    .option('--years <source>', `${YEARS.join(' or ')}: guessed years are replaced by the latest one not after recorded_at`)
    .addOption(
      new Option('--condition-known <answer>', 'false if ungraded prices are averages over all conditions; default: true').choices(['true', 'false']),
    )
    .option('--entries <path>', 'for JSON: path to nested entries that are rows, such as printings.*')
    .addHelpText('after', `\nFormats:\n${IMPORT_FORMATS.map((format) => `  ${format.name.padEnd(24)} ${format.title}`).join('\n')}`)
    .action((format: string, paths: string[], options: ImportOptions) =>
      open(async (ctx) => {
        const { market, dryRun = false, acceptDrift = false } = options
        const input = {
          format,
          files: paths.map(fileAt),
          ...(market && { market }),
          dry_run: dryRun,
          accept_drift: acceptDrift,
          ...mappingInput(options),
        }
        const started = monotonicMs()
        const bar = process.stderr.isTTY ? progressBar() : null
        const report = await call(importFiles, { ...ctx, ...(bar && { onProgress: bar.show }) }, input)
        bar?.clear()
        const seconds = (monotonicMs() - started) / 1000
        printResult(print, options, jsonOf(report, dryRun, seconds), summaryOf(report, dryRun, seconds))
        if (report.status === 'failed') process.exitCode = 1
      }),
    )
}

/** The parameters of a mapping under their names in the operator API. */
function mappingInput({
  map,
  mapName,
  saveMap,
  only,
  currency,
  decimal,
  encoding,
  years,
  conditionKnown,
  entries,
}: ImportOptions): Record<string, string | boolean> {
  const fields = { map: map?.join(','), map_name: mapName, save_map: saveMap, only, currency, decimal, encoding, years, entries }
  const texts = Object.entries(fields).filter((pair): pair is [string, string] => pair[1] !== undefined)
  return { ...Object.fromEntries(texts), ...(conditionKnown && { condition_known: conditionKnown === 'true' }) }
}

/** The report of an import as JSON. */
export function jsonOf({ id, status, counts, errors, reasons, why }: ImportReport, dryRun: boolean, seconds: number): object {
  const { rowsRead, ...others } = counts
  const toReport = ({ file, row: line, message }: RefusedRow) => ({ file, line, message })
  return {
    id,
    status,
    dry_run: dryRun,
    rows_read: rowsRead,
    ...others,
    seconds,
    message: why && textOf(why),
    reasons: reasons.map(({ samples, ...reason }) => ({ ...reason, samples: samples.map(toReport) })),
    errors: errors.map(toReport),
  }
}

/** The report of an import as text. */
export function summaryOf({ id, status, counts, reasons, why }: ImportReport, dryRun: boolean, seconds: number): string {
  const { rowsRead, created, updated, accepted, unchanged, held, rejected } = counts
  const rate = seconds > 0 ? `, ${Math.round(rowsRead / seconds)} rows/s` : ''
  const lines = [
    `Import ${id} ${status}${dryRun ? ' (dry run: nothing was changed)' : ''}: ${rowsRead} rows read in ${seconds.toFixed(1)} s${rate}`,
    `  ${created} created, ${updated} updated, ${unchanged} unchanged, ${rejected} rejected`,
    `  of which prices: ${accepted} accepted, ${held} held`,
  ]
  if (why) lines.push(`  ${textOf(why)}`)
  if (held > 0) lines.push(`  review held prices: mintmark held list --import ${id}`)
  for (const { count, reason, samples } of reasons.slice(0, SHOWN_REASONS)) {
    lines.push(
      `    ${count} × ${reason}`,
      ...samples.map((sample) => `      ${placeOf(sample)}${sample.message === reason ? '' : `: ${sample.message}`}`),
    )
  }
  if (reasons.length > SHOWN_REASONS) lines.push(`    and ${reasons.length - SHOWN_REASONS} more reasons (--json lists them)`)
  if (rejected > 0) lines.push(`  all rejected rows: GET /operator/v1/imports/${id}/refusals.csv`)
  return lines.join('\n')
}

function placeOf({ file, row }: RefusedRow): string {
  return file ? `${file}:${row}` : String(row)
}

function progressBar(): { show: (counts: ImportReport['counts'], percent: number) => void; clear: () => void } {
  const width = 30
  return {
    show: ({ rowsRead, rejected }, percent) => {
      const done = Math.round((percent / 100) * width)
      const bar = `${'█'.repeat(done)}${'░'.repeat(width - done)}`
      process.stderr.write(`\r${bar} ${String(percent).padStart(3)} %  ${rowsRead} rows, ${rejected} rejected\x1b[K`)
    },
    clear: () => process.stderr.write('\r\x1b[K'),
  }
}
