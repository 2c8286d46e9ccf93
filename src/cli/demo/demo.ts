// The command `demo`: creates the demo once per database, prints its keys, and resets it.
import type { Command } from 'commander'
import { hashKey } from '#accounts/credentials/key-format.ts'
import { PLAN_NAMES, PLANS } from '#core/plans.ts'
import type { WriteCtx } from '#db/changes/change.ts'
import { runExclusively, isUntouched } from '#db/emptiness.ts'
import { type Config, readConfig } from '../../config.ts'
import { addCommand, columns, type OpenCli, type OutputOptions, type Print, printResult, wrongUsage } from '../terminal/command.ts'
import { type DemoAccess, makeDemo, NoDemoError, readAccess } from './make-demo.ts'
import { resetDemo } from './reset-demo.ts'

interface Options extends OutputOptions {
  ownCatalogue?: boolean
  reset?: boolean
  yes?: boolean
}

export function register(program: Command, open: OpenCli, print: Print): void {
  addCommand(program, 'demo', 'load the sample catalogue and a demo marketplace into an empty database; prints a key for each plan')
    .option('--own-catalogue', 'use the existing items instead of the sample catalogue')
    .option('--reset', 'delete everything in a database with the demo, and create the demo again')
    .option('--yes', 'with --reset: also delete what others have added to the demo')
    .action((options: Options, command: Command) => {
      if (options.yes && !options.reset) wrongUsage(command, '--yes needs --reset')
      if (options.reset && options.ownCatalogue) wrongUsage(command, '--reset and --own-catalogue cannot be combined')
      return open(async (ctx) => {
        const config = readConfig()
        if (config.demoRefusal) throw new Error(`Demo not loaded: ${config.demoRefusal}`)
        const access = options.reset ? await resetDemo(ctx, config, options) : await prepareDemo(ctx, config, options)
        const rows = PLANS.map((plan): [string, string] => [`${PLAN_NAMES[plan]} key`, access.keys[plan]])
        printResult(print, options, access, columns(['WHAT', 'VALUE'], [...rows, ['Operator token', access.operatorToken]]))
      })
    })
}

/**
 * Creates the demo in an empty database, or of the operator's own catalogue; reads the keys of an existing demo in this
 * database. Processes that do so at the same time create one demo.
 * @throws NoDemoError of one sentence if the database contains anything else
 */
export function prepareDemo(ctx: WriteCtx, config: Config, { ownCatalogue = false } = {}): Promise<DemoAccess> {
  return runExclusively(ctx.db, async () => {
    const earlier = readAccess(config)
    if (earlier && (await isFrom(ctx, earlier))) return earlier
    if (ownCatalogue) {
      const account = await ctx.db.kysely.selectFrom('accounts').select('id').limit(1).executeTakeFirst()
      if (account) throw new NoDemoError('The database already has accounts; the demo needs a database without accounts')
    } else if (!(await isUntouched(ctx.db))) {
      throw new NoDemoError('The database is not empty; use an empty database, or --own-catalogue with a database that has items but no accounts')
    }
    return makeDemo(ctx, config, { ownCatalogue })
  })
}

/** Whether the keys belong to this database: DATA_DIR may have been used with another one. */
async function isFrom({ db }: WriteCtx, { keys }: DemoAccess): Promise<boolean> {
  const hash = hashKey(keys.professional)
  return (await db.kysely.selectFrom('api_keys').select('id').where('hash', '=', hash).executeTakeFirst()) !== undefined
}
