// The command `match`: matches source records of the same cards and products, and merges duplicate items.
import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { monotonicMs } from '#core/process/time-and-chance.ts'
import { call } from '#core/verb.ts'
import { matchCatalogue, type MatchReport } from '#identity/match-catalogue.ts'
import { addCommand, type OpenCli, type OutputOptions, type Print, printResult } from './terminal/command.ts'

export function register(program: Command, open: OpenCli, print: Print): void {
  addCommand(program, 'match', 'match source records to items and merge duplicate items')
    .option('--dry-run', 'only report, change nothing')
    .option('--sealed-aliases <file>', 'JSON object of aliases for words in sealed product names; replaces earlier aliases, {} removes them')
    .action(({ dryRun = false, sealedAliases, ...options }: OutputOptions & { dryRun?: boolean; sealedAliases?: string }) =>
      open(async (ctx) => {
        const aliases = sealedAliases === undefined ? {} : { sealed_aliases: aliasesOf(sealedAliases) }
        const started = monotonicMs()
        const bar = process.stderr.isTTY
        const onProgress = ({ adopted, game }: { adopted: number; game: string | null }) =>
          process.stderr.write(`\r${game === null ? `${adopted} items recorded` : `matching ${game}`}\x1b[K`)
        const report = await call(matchCatalogue, { ...ctx, ...(bar && { onProgress }) }, { dry_run: dryRun, ...aliases })
        if (bar) process.stderr.write('\r\x1b[K')
        const seconds = (monotonicMs() - started) / 1000
        printResult(print, options, { ...report, seconds }, textOf(report, seconds))
      }),
    )
}

/** The rows of a file with aliases by words. @throws Error that names the file */
function aliasesOf(file: string): { words: string; means: string }[] {
  let aliases: unknown
  try {
    aliases = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new Error(`${file} cannot be read: ${(error as Error).message}`, { cause: error })
  }
  const isObject = typeof aliases === 'object' && aliases !== null && !Array.isArray(aliases)
  if (!isObject || Object.values(aliases as object).some((means) => typeof means !== 'string'))
    throw new Error(`${file} must be a JSON object of strings, such as {"sammelbox": "collection"}`)
  return Object.entries(aliases as Record<string, string>).map(([words, means]) => ({ words, means }))
}

function textOf({ dry_run: dryRun, adopted, worlds }: MatchReport, seconds: number): string {
  const lines = [`Matched in ${seconds.toFixed(1)} s${dryRun ? ' (dry run: nothing was changed)' : ''}; ${adopted} items recorded`]
  for (const { game, world, created, updated, merged, emptied, waiting, methods } of worlds) {
    lines.push(`${game} (${world}): ${merged} items merged, ${created} created, ${updated} updated, ${emptied} removed; ${waiting} pending decisions`)
    const joins = Object.entries(methods).map(([method, count]) => `${count} ${method}`)
    lines.push(`  records by method: ${joins.join(', ')}`)
  }
  return lines.join('\n')
}
