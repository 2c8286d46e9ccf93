// The command `match`: joins what sources state of the same cards and products, and merges items that are the same.
import type { Command } from 'commander'
import { call } from '#core/verb.ts'
import { matchCatalogue, type MatchReport } from '#identity/match-catalogue.ts'
import { addCommand, type OpenCli, type OutputOptions, type Print, show } from './command.ts'

export function register(program: Command, open: OpenCli, print: Print): void {
  addCommand(program, 'match', 'join records of several sources to items and merge items that are the same')
    .option('--dry-run', 'report only, change nothing')
    .action(({ dryRun = false, ...options }: OutputOptions & { dryRun?: boolean }) =>
      open(async (ctx) => {
        const started = Date.now()
        const bar = process.stderr.isTTY
        const onProgress = ({ adopted, game }: { adopted: number; game: string | null }) =>
          process.stderr.write(`\r${game === null ? `${adopted} items recorded` : `matching ${game}`}\x1b[K`)
        const report = await call(matchCatalogue, { ...ctx, ...(bar && { onProgress }) }, { dry_run: dryRun })
        if (bar) process.stderr.write('\r\x1b[K')
        const seconds = (Date.now() - started) / 1000
        show(print, options, { ...report, seconds }, textOf(report, seconds))
      }),
    )
}

function textOf({ dry_run: dryRun, adopted, worlds }: MatchReport, seconds: number): string {
  const lines = [`Matched in ${seconds.toFixed(1)} s${dryRun ? ' (dry run: nothing was changed)' : ''}; ${adopted} items recorded`]
  for (const { game, world, created, updated, merged, emptied, waiting, methods } of worlds) {
    lines.push(
      `${game} (${world}): ${merged} items merged, ${created} created, ${updated} updated, ${emptied} removed; ${waiting} wait for a decision`,
    )
    const joins = Object.entries(methods).map(([method, count]) => `${count} ${method}`)
    lines.push(`  records by method: ${joins.join(', ')}`)
  }
  return lines.join('\n')
}
