// The command `migrate`: updates the database schema.
import type { Command } from 'commander'
import { pino } from 'pino'
import { migrate } from '#db/migrate.ts'
import { openDatabase } from '#db/open.ts'
import { readConfig } from '../config.ts'
import { addCommand, type OpenCli, type OutputOptions, type Print, printResult } from './terminal/command.ts'

export function register(program: Command, _open: OpenCli, print: Print): void {
  addCommand(program, 'migrate', 'update the database schema').action(async (options: OutputOptions) => {
    const log = pino({ level: 'warn' }, pino.destination(2))
    const database = await openDatabase(readConfig(), { applicationName: 'mintmark migrate', log, max: 2, own: false })
    try {
      const applied = await migrate(database.db)
      const text = applied.length === 0 ? 'The schema is up to date' : `Applied ${applied.join(', ')}`
      printResult(print, options, { applied }, text)
    } finally {
      await database.close()
    }
  })
}
