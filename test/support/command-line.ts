// Runs commands of the command line within the process of a test, on a node's database.
import { Command } from 'commander'
import type { CliCtx, OpenCli, Print } from '#cli/terminal/command.ts'
import { type Config, readConfig } from '#config.ts'
import type { Db } from '#db/schema.ts'
import type { PriceWriteCtx } from '#prices/records/price-types.ts'

type Register = (program: Command, open: OpenCli, print: Print) => void

/** What a command printed, and the exit code that it set. A command that fails throws. */
export async function runCommand(
  { ctx: ofNode, db }: { ctx: PriceWriteCtx; db: Db },
  registers: readonly Register[],
  args: readonly string[],
  config: Config = readConfig({}),
): Promise<{ text: string; exitCode: typeof process.exitCode }> {
  const lines: string[] = []
  const ctx: CliCtx = { ...ofNode, config, precondition: null }
  const program = new Command('mintmark').exitOverride().configureOutput({ writeErr: () => {}, writeOut: () => {} })
  for (const register of registers) {
    register(
      program,
      (run) => run(ctx, (read) => read(db)),
      (line) => lines.push(line),
    )
  }
  process.exitCode = undefined
  try {
    await program.parseAsync(args, { from: 'user' })
    return { text: lines.join('\n'), exitCode: process.exitCode }
  } finally {
    process.exitCode = undefined
  }
}
