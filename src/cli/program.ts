// The program `mintmark`: its subcommands and exit codes (0 success, 1 failure, 2 usage error).
import { Command, CommanderError } from 'commander'
import { machineNow } from '#core/process/time-and-chance.ts'
import packageJson from '../../package.json' with { type: 'json' }
import type { CliCtx, CommandModule, OpenCli } from './terminal/command.ts'
import { openLog } from './terminal/log.ts'
import { readConfig } from '../config.ts'
import { ServiceError } from '#core/errors.ts'
import { openDatabase } from '#db/open.ts'
import { readFromReplica } from '#db/replica.ts'
import { migrate } from '#db/migrate.ts'
import { applyStored, liveConfig } from '#live-settings/live-config.ts'

const print = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

const open: OpenCli = async (run) => {
  const config = liveConfig(readConfig())
  // On standard error, so that `--json` output stays one value.
  const log = await openLog(config.logLevel === 'info' ? 'warn' : config.logLevel, { sync: true })
  const database = await openDatabase(config, { applicationName: 'mintmark command', log, max: 4, own: false })
  try {
    await migrate(database.db)
    await applyStored(config, database.db.kysely, log)
    const ctx: CliCtx = {
      db: database.db,
      viewer: { kind: 'operator', name: 'cli' },
      now: machineNow,
      requestId: null,
      idempotency: null,
      precondition: null,
      rules: config.priceRules,
      config,
      caughtUp: async () => {},
    }
    await run(ctx, (read) => readFromReplica({ replicaUrl: config.databaseReplicaUrl, primary: database.db, log }, read))
  } finally {
    await database.close()
  }
}

const program = new Command('mintmark')
  .description('Open trading-card price reference and marketplace service')
  .version(packageJson.version)
  .showHelpAfterError('(add --help for usage)')
  .exitOverride()

/** The modules of the commands, in the order of the help, with the names that they register. */
const COMMANDS: readonly { names: string[]; load: () => Promise<CommandModule> }[] = [
  { names: ['serve', 'api', 'operator', 'work'], load: () => import('./service/serve.ts') },
  { names: ['migrate'], load: () => import('./migrate.ts') },
  { names: ['import'], load: () => import('./catalogue/import.ts') },
  { names: ['fetch'], load: () => import('./catalogue/fetch.ts') },
  { names: ['games'], load: () => import('./catalogue/games.ts') },
  { names: ['export'], load: () => import('./export.ts') },
  { names: ['dump'], load: () => import('./dump.ts') },
  { names: ['mirror'], load: () => import('./mirror.ts') },
  { names: ['held'], load: () => import('./prices/held.ts') },
  { names: ['personal-data'], load: () => import('./privacy/personal-data.ts') },
  { names: ['notices'], load: () => import('./privacy/notices.ts') },
  { names: ['breach'], load: () => import('./privacy/breach.ts') },
  { names: ['price-reviews', 'price-decisions'], load: () => import('./prices/price-reviews.ts') },
  { names: ['usual-ratios'], load: () => import('./prices/usual-ratios.ts') },
  { names: ['imports', 'revert'], load: () => import('./batches.ts') },
  { names: ['notifications'], load: () => import('./notifications.ts') },
  { names: ['settings'], load: () => import('./settings.ts') },
  { names: ['match'], load: () => import('./match.ts') },
  { names: ['matches'], load: () => import('./matches.ts') },
  { names: ['merge', 'merges', 'split'], load: () => import('./merge.ts') },
  { names: ['rates'], load: () => import('./rates.ts') },
  { names: ['indices'], load: () => import('./indices.ts') },
  { names: ['certificates'], load: () => import('./certificates.ts') },
  { names: ['account'], load: () => import('./account.ts') },
  { names: ['key'], load: () => import('./key.ts') },
  { names: ['collection'], load: () => import('./collection.ts') },
  { names: ['operator-token'], load: () => import('./operator-token.ts') },
  { names: ['people'], load: () => import('./people.ts') },
  { names: ['backup', 'restore'], load: () => import('./backup.ts') },
  { names: ['archive'], load: () => import('./archive.ts') },
  { names: ['demo'], load: () => import('./demo/demo.ts') },
  { names: ['doctor'], load: () => import('./doctor.ts') },
  { names: ['listen'], load: () => import('./listen.ts') },
]

const args = process.argv.length > 2 ? process.argv : [...process.argv, 'serve']
// A command loads only its own module, which takes a third of the time; the help and wrong names need all.
const wanted = COMMANDS.filter(({ names }) => names.includes(args[2]!))
for (const { register } of await Promise.all((wanted.length > 0 ? wanted : COMMANDS).map(({ load }) => load()))) register(program, open, print)

// Subcommands do not inherit this setting: each must throw instead of exiting with commander's code 1.
function overrideExit(command: Command): void {
  command.exitOverride()
  for (const child of command.commands) overrideExit(child)
}
overrideExit(program)

// `| head` closes standard output early: the command continues without printing the rest.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})

try {
  await program.parseAsync(args)
} catch (error) {
  process.exitCode = endOf(error)
}

/** Prints the error as one line, and returns the exit code. */
function endOf(error: unknown): number {
  // Its details are several lines, which main.ts prints.
  if (error instanceof Error && error.name === 'GameDataError') throw error
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (error instanceof ServiceError) return say(error.message, error.code === 'VALIDATION_ERROR' ? 2 : 1)
  return say(error instanceof Error ? error.message : String(error))
}

function say(message: string, code = 1): number {
  process.stderr.write(`mintmark: ${message.split('\n', 1)[0]}\n`)
  return code
}
