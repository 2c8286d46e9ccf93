// The program `mintmark`: its subcommands and exit codes (0 success, 1 failure, 2 usage error).
import { Command, CommanderError } from 'commander'
import { machineNow } from '#core/process/time-and-chance.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { register as registerAccount } from './account.ts'
import { register as registerArchive } from './archive.ts'
import { register as registerBatches } from './batches.ts'
import { register as registerBackup } from './backup.ts'
import { register as registerCertificates } from './certificates.ts'
import { register as registerCollection } from './collection.ts'
import type { CliCtx, OpenCli } from './terminal/command.ts'
import { register as registerDemo } from './demo/demo.ts'
import { register as registerDoctor } from './doctor.ts'
import { register as registerDump } from './dump.ts'
import { register as registerExport } from './export.ts'
import { register as registerGames } from './catalogue/games.ts'
import { register as registerHeld } from './prices/held.ts'
import { register as registerImport } from './import.ts'
import { register as registerIndices } from './indices.ts'
import { register as registerKey } from './key.ts'
import { register as registerListen } from './listen.ts'
import { openLog } from './terminal/log.ts'
import { register as registerMatch } from './match.ts'
import { register as registerMatches } from './matches.ts'
import { register as registerMerge } from './merge.ts'
import { register as registerMigrate } from './migrate.ts'
import { register as registerMirror } from './mirror.ts'
import { register as registerNotifications } from './notifications.ts'
import { register as registerOperatorToken } from './operator-token.ts'
import { register as registerPeople } from './people.ts'
import { register as registerPriceReviews } from './prices/price-reviews.ts'
import { register as registerBreach } from './privacy/breach.ts'
import { register as registerNotices } from './privacy/notices.ts'
import { register as registerPersonalData } from './privacy/personal-data.ts'
import { register as registerRates } from './rates.ts'
import { register as registerUsualRatios } from './prices/usual-ratios.ts'
import { register as registerSettings } from './settings.ts'
import { register as registerServe } from './service/serve.ts'
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

registerServe(program)
registerMigrate(program, print)
registerImport(program, open, print)
registerExport(program, open)
registerDump(program, open, print)
registerMirror(program, print)
registerHeld(program, open, print)
registerPersonalData(program, open, print)
registerNotices(program, open, print)
registerBreach(program, open, print)
registerPriceReviews(program, open, print)
registerUsualRatios(program, open, print)
registerBatches(program, open, print)
registerNotifications(program, open, print)
registerSettings(program, open, print)
registerMatch(program, open, print)
registerMatches(program, open, print)
registerMerge(program, open, print)
registerRates(program, open, print)
registerIndices(program, open, print)
registerCertificates(program, open, print)
registerAccount(program, open, print)
registerKey(program, open, print)
registerCollection(program, open, print)
registerOperatorToken(program, open, print)
registerPeople(program, open, print)
registerBackup(program, open, print)
registerArchive(program, open, print)
registerDemo(program, open, print)
registerDoctor(program, print)
registerGames(program, print)
registerListen(program, print)

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
  await program.parseAsync(process.argv.length > 2 ? process.argv : [...process.argv, 'serve'])
} catch (error) {
  process.exitCode = endOf(error)
}

/** Prints the error as one line, and returns the exit code. */
function endOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (error instanceof ServiceError) return say(error.message, error.code === 'VALIDATION_ERROR' ? 2 : 1)
  return say(error instanceof Error ? error.message : String(error))
}

function say(message: string, code = 1): number {
  process.stderr.write(`mintmark: ${message.split('\n', 1)[0]}\n`)
  return code
}
