// The command `fetch`: downloads the files of a public source and imports them, or lists the sources.
import { Argument, type Command } from 'commander'
import type { Log } from '#core/context.ts'
import { monotonicMs } from '#core/process/time-and-chance.ts'
import { textOf } from '#core/problems.ts'
import { call } from '#core/verb.ts'
import { importFiles } from '#imports/import-files.ts'
import type { ImportReport } from '#imports/run.ts'
import { openResolver } from '#outbound/resolve.ts'
import type { FetchProgress } from '#public-sources/fetch-files.ts'
import { type ListedSource, listPublicSources } from '#public-sources/list-public-sources.ts'
import { type FetchOutcome, SourceFetches } from '#public-sources/source-fetches.ts'
import { PUBLIC_SOURCES, type PublicSource } from '#public-sources/sources.ts'
import { guardOf } from '#webhooks/rules.ts'
import { fileAt } from './files.ts'
import { jsonOf, summaryOf } from './import.ts'
import { addCommand, type CliCtx, columns, type OpenCli, type OutputOptions, type Print, printResult, wrongUsage } from '../terminal/command.ts'

interface FetchOptions extends OutputOptions {
  list?: boolean
  again?: boolean
}

export function register(program: Command, open: OpenCli, print: Print): void {
  const command = addCommand(program, 'fetch', 'download the files of a public source and import them')
    .addArgument(new Argument('[source]', 'source').choices(PUBLIC_SOURCES.map(({ name }) => name)))
    .option('--list', 'list the sources, their licences and the last fetch of each')
    .option('--again', 'download and import files that have not changed, too')
    .action((name: string | undefined, options: FetchOptions) => {
      if (options.list || name === undefined) {
        if (!options.list) wrongUsage(command, "missing argument 'source'; --list shows the sources")
        return open(async (ctx) => {
          const sources = await call(listPublicSources, ctx, {})
          printResult(print, options, sources, listOf(sources))
        })
      }
      const source = PUBLIC_SOURCES.find((listed) => listed.name === name)!
      return open((ctx) => fetchNow(ctx, source, options, print))
    })
}

function listOf(sources: readonly ListedSource[]): string {
  const rows = sources.map((source) => [source.name, source.game, source.state, source.checked_at, source.licence, source.terms_url])
  return columns(['source', 'game', 'state', 'checked', 'licence', 'terms'], rows)
}

const SILENT: Log = { error: () => {}, warn: () => {}, info: () => {}, debug: () => {} }

async function fetchNow(ctx: CliCtx, source: PublicSource, options: FetchOptions, print: Print): Promise<void> {
  const { config, db, now } = ctx
  process.stderr.write(`${source.title} (${source.website})\nLicence: ${source.licence}\nTerms: ${source.termsUrl}\n`)
  const network = { guard: guardOf(config, db, () => [], []), resolve: openResolver(), mirror: config.sourcesMirror }
  const fetches = new SourceFetches({ db, log: SILENT, now, folder: config.sourcesDir, network })
  const started = monotonicMs()
  let report: ImportReport | null = null
  const showProgress = process.stderr.isTTY ? (progress: FetchProgress) => process.stderr.write(`\r${progressText(progress)}\x1b[K`) : () => {}
  const { finished } = await fetches.begin(source, {
    onProgress: showProgress,
    again: options.again ?? false,
    importFiles: async (files) => {
      showProgress({ file: 'importing', files_done: files.length, files_total: files.length, bytes: 0, bytes_total: null })
      report = await call(importFiles, ctx, { format: source.format, files: files.map(({ path }) => fileAt(path)) })
      return report.id
    },
  })
  const outcome = await finished
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K')
  const seconds = (monotonicMs() - started) / 1_000
  const { result, bytes, why } = outcome
  const value = { source: source.name, result, bytes, message: why && textOf(why), import: report && jsonOf(report, false, seconds) }
  printResult(print, options, value, textOfOutcome(outcome, report, seconds))
  if (result === 'failed' || (report as ImportReport | null)?.status === 'failed') process.exitCode = 1
}

function textOfOutcome({ result, bytes, why }: FetchOutcome, report: ImportReport | null, seconds: number): string {
  if (result === 'failed') return `Fetch failed: ${why ? textOf(why) : ''}`
  if (result === 'unchanged' || !report) return 'Unchanged since the last fetch; nothing to import'
  return `Fetched ${megabytes(bytes)} MB\n${summaryOf(report, false, seconds)}`
}

function progressText({ file, files_done: done, files_total: total, bytes, bytes_total: of }: FetchProgress): string {
  const size = bytes === 0 ? '' : `, ${megabytes(bytes)}${of === null ? '' : ` of ${megabytes(of)}`} MB`
  return `${done}${total === 0 ? '' : ` of ${total}`} files${file === null ? '' : `: ${file}`}${size}`
}

function megabytes(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(1)
}
