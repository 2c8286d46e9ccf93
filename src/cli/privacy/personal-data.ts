// The commands `personal-data export`, `personal-data erase` and `personal-data list`.
import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import type { Command } from 'commander'
import { openAuditArchive } from '#audit/archive/audit-file.ts'
import { call } from '#core/verb.ts'
import { erasePerson, listErasures } from '#privacy/erase-person.ts'
import { exportAccountData, exportBuyerData } from '#privacy/export-person.ts'
import { readConfig } from '../../config.ts'
import {
  addCommand,
  allRows,
  columns,
  type OpenCli,
  type OutputOptions,
  type Print,
  printResult,
  wholeNumber,
  wrongUsage,
} from '../terminal/command.ts'

interface PersonOptions extends OutputOptions {
  account?: number
  buyer?: string
}

export function register(program: Command, open: OpenCli, print: Print): void {
  const data = program.command('personal-data').description('export and erase what is stored about an account or a buyer')
  const addPersonCommand = (name: string, about: string) =>
    addCommand(data, name, about)
      .option('--account <id>', 'id of the account', wholeNumber)
      .option('--buyer <reference>', "the shop's reference of a buyer")
  const requireOne = (command: Command, { account, buyer }: PersonOptions) => {
    if ((account === undefined) === (buyer === undefined)) wrongUsage(command, 'give either --account or --buyer')
  }

  addPersonCommand('export', 'write everything about a person to a file, as JSON')
    .argument('<file>', 'file to write, such as person.json')
    .action((file: string, options: PersonOptions, command: Command) => {
      requireOne(command, options)
      return open(async (ctx) => {
        const reading = { ...ctx, auditArchive: openAuditArchive(readConfig()) }
        const { account, buyer } = options
        const body =
          account === undefined
            ? await call(exportBuyerData, reading, { buyer_reference: buyer })
            : await call(exportAccountData, reading, { account_id: account })
        await pipeline(body, createWriteStream(file, { mode: 0o600 }))
        printResult(print, options, { file }, `Wrote ${file}`)
      })
    })

  addPersonCommand('erase', 'erase a person: remove their data, and overwrite names in sales, which stay; final')
    .requiredOption('--reason <text>', 'why, without personal data')
    .action((options: PersonOptions & { reason: string }, command: Command) => {
      requireOne(command, options)
      return open(async (ctx) => {
        const { account, buyer, reason } = options
        const who = account === undefined ? { buyer_reference: buyer } : { account_id: account }
        const erasure = await call(erasePerson, ctx, { ...who, reason })
        printResult(print, options, erasure, `Erasure ${erasure.id} is ${erasure.state}; a running service carries it out`)
      })
    })

  addCommand(data, 'list', 'list requests for erasure').action((options: OutputOptions) =>
    open(async (ctx) => {
      const rows = await allRows((paging) => call(listErasures, ctx, paging))
      const lines = rows.map((row) => [row.id, row.pseudonym, row.state, row.requested_by, row.requested_at, row.reason])
      printResult(print, options, rows, columns(['ID', 'PSEUDONYM', 'STATE', 'REQUESTED BY', 'REQUESTED', 'REASON'], lines))
    }),
  )
}
