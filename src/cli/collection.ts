// The commands `collection ...`: create collections, import files into them and export them.
import { type Command, Option } from 'commander'
import { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import { changeCollection } from '#collections/change-collection.ts'
import { createCollection } from '#collections/create-collection.ts'
import { deleteCollection } from '#collections/delete-collection.ts'
import { exportCollection } from '#collections/export/export-collection.ts'
import { COLLECTION_FORMATS, EXPORT_FORMATS } from '#collections/import/formats.ts'
import { discardParkedRow, listParkedRows, type ParkedRow, placeParkedRow } from '#collections/import/parked.ts'
import { type CollectionImport, importCollection } from '#collections/import/run.ts'
import { listStoredCollections } from '#collections/list-stored-collections.ts'
import { type StoredCollection, VISIBILITIES } from '#collections/records/types.ts'
import { call } from '#core/verb.ts'
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
} from './terminal/command.ts'
import { writeText } from './export.ts'

interface Fields extends OutputOptions {
  name?: string
  description?: string
  visibility?: StoredCollection['visibility']
}

/** Maximum rejected rows that are printed; the JSON output has up to a thousand. */
const SHOWN_ERRORS = 20

export function register(program: Command, open: OpenCli, print: Print): void {
  const collection = program.command('collection').description('collections of accounts')
  registerCollections(collection, open, print)
  registerFiles(collection, open, print)
  registerParked(collection, open, print)
}

function registerCollections(collection: Command, open: OpenCli, print: Print): void {
  addCommand(collection, 'create', 'create a collection for an account')
    .requiredOption('--account <id>', 'account that owns it', wholeNumber)
    .requiredOption('--name <name>', 'name of the collection')
    .option('--description <text>', 'description of the collection')
    .addOption(visibilityOption())
    .action((options: Fields & { account: number }) =>
      open(async (ctx) => {
        const created = await call(createCollection, ctx, { account_id: options.account, ...fieldsOf(options) })
        printResult(print, options, created, `Created ${describeCollection(created)}`)
      }),
    )
  addCommand(collection, 'set', 'change the name, description or visibility of a collection')
    .argument('<id>', 'id of the collection', wholeNumber)
    .option('--name <name>', 'new name')
    .option('--description <text>', 'description of the collection')
    .addOption(visibilityOption())
    .action((id: number, options: Fields, command: Command) => {
      const fields = fieldsOf(options)
      if (Object.keys(fields).length === 0) wrongUsage(command, 'give at least one of --name, --description, --visibility')
      return open(async (ctx) => {
        const changed = await call(changeCollection, ctx, { id, ...fields })
        printResult(print, options, changed, `Changed ${describeCollection(changed)}`)
      })
    })
  collection
    .command('delete')
    .description('delete a collection and all its records')
    .argument('<id>', 'id of the collection', wholeNumber)
    .action((id: number) =>
      open(async (ctx) => {
        await call(deleteCollection, ctx, { id })
        print(`Deleted collection ${id}`)
      }),
    )
  addCommand(collection, 'list', 'list all collections')
    .option('--account <id>', 'only this account', wholeNumber)
    .action((options: OutputOptions & { account?: number }) =>
      open(async (ctx) => {
        const filter = options.account === undefined ? {} : { account_id: options.account }
        const rows = await allRows((paging) => call(listStoredCollections, ctx, { ...filter, ...paging }))
        const lines = rows.map((row) => [row.id, row.account_id, row.name, row.visibility, row.items_count])
        printResult(print, options, rows, columns(['ID', 'ACCOUNT', 'NAME', 'VISIBILITY', 'RECORDS'], lines))
      }),
    )
}

function registerFiles(collection: Command, open: OpenCli, print: Print): void {
  const formats = new Option('--format <format>', 'format of the file').choices(COLLECTION_FORMATS.map((format) => format.name))
  addCommand(collection, 'import', 'import a file into a collection; importing the same file again adds nothing')
    .argument('<id>', 'id of the collection', wholeNumber)
    .argument('<file>', 'file to read; - for standard input; .gz is decompressed')
    .addOption(formats.makeOptionMandatory())
    .addHelpText('after', `\nFormats:\n${COLLECTION_FORMATS.map((format) => `  ${format.name.padEnd(16)} ${format.title}`).join('\n')}`)
    .action((id: number, path: string, options: OutputOptions & { format: string }) =>
      open(async (ctx) => {
        const catalogue = new Catalogue(ctx.db, { ...ctx.config, readyBytesMb: 1, now: ctx.now })
        await catalogue.load()
        const file = { path: path === '-' ? '/dev/stdin' : path, gzip: path.endsWith('.gz') }
        const report = await call(importCollection, { ...ctx, catalogue }, { id, format: options.format, file })
        printResult(print, options, report, reportInWords(id, report))
      }),
    )
  collection
    .command('export')
    .description('export a collection as a file')
    .argument('<id>', 'id of the collection', wholeNumber)
    .argument('[file]', 'file to write, .gz is compressed; default: standard output (-)', '-')
    .addOption(new Option('--format <format>', 'format of the file').choices(EXPORT_FORMATS).default('mintmark-csv'))
    .action((id: number, path: string, { format }: { format: string }) =>
      open(async (ctx) => {
        const { sourceCurrencies: currencies, timeZone } = ctx.config
        await writeText(path, await call(exportCollection, { ...ctx, currencies, market: { timeZone } }, { id, format }))
      }),
    )
}

function registerParked(collection: Command, open: OpenCli, print: Print): void {
  addCommand(collection, 'parked', 'list imported rows that are parked until someone chooses their item')
    .argument('<id>', 'id of the collection', wholeNumber)
    .action((id: number, options: OutputOptions) =>
      open(async (ctx) => {
        const rows = await allRows((paging) => call(listParkedRows, ctx, { id, ...paging }))
        printResult(print, options, rows, columns(['ROW', 'NAME', 'NUMBER', 'SET', 'LABEL', 'REASON', 'CANDIDATES'], rows.map(parkedLine)))
      }),
    )
  addCommand(collection, 'place', 'add a parked row to the collection as a record')
    .argument('<id>', 'id of the collection', wholeNumber)
    .argument('<row>', 'id of the parked row', wholeNumber)
    .requiredOption('--item <id>', 'item to use for the row', wholeNumber)
    .option('--grade <id>', "grade allowed for the item, instead of the row's", wholeNumber)
    .action((id: number, row: number, options: OutputOptions & { item: number; grade?: number }) =>
      open(async (ctx) => {
        const grade = options.grade === undefined ? {} : { grade_id: options.grade }
        const record = await call(placeParkedRow, ctx, { id, row_id: row, item_id: options.item, ...grade })
        printResult(print, options, record, `Added as record ${record.id}: ${record.item_name}, ${record.group_label ?? 'no grade'}`)
      }),
    )
  collection
    .command('discard')
    .description('discard a parked row')
    .argument('<id>', 'id of the collection', wholeNumber)
    .argument('<row>', 'id of the parked row', wholeNumber)
    .action((id: number, row: number) =>
      open(async (ctx) => {
        await call(discardParkedRow, ctx, { id, row_id: row })
        print(`Discarded parked row ${row}`)
      }),
    )
}

function visibilityOption(): Option {
  return new Option('--visibility <visibility>', 'who may see it').choices(VISIBILITIES)
}

function fieldsOf({ name, description, visibility }: Fields): object {
  return {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(visibility && { visibility }),
  }
}

function describeCollection({ id, account_id: accountId, name, visibility, items_count: count }: StoredCollection): string {
  return `collection ${id} "${name}" of account ${accountId}: ${visibility}, ${count} records`
}

function reportInWords(id: number, { rows_read, added, unchanged, parked, rejected, errors }: CollectionImport): string {
  const lines = [`${rows_read} rows read: ${added} added, ${unchanged} unchanged, ${parked} parked, ${rejected} rejected`]
  for (const error of errors.slice(0, SHOWN_ERRORS)) lines.push(`  line ${error.line}: ${error.message}`)
  if (rejected > SHOWN_ERRORS) lines.push(`  and ${rejected - SHOWN_ERRORS} more (--json lists up to 1000)`)
  if (parked > 0) lines.push(`mintmark collection parked ${id} lists the parked rows with the best candidates`)
  return lines.join('\n')
}

function parkedLine({ id, name, number, set, label, reason, candidates }: ParkedRow): (string | number | null)[] {
  const best = candidates.map((one) => `${one.item_id} ${one.name}${one.code ? ` ${one.code}` : ''} (${one.set})`).join('; ')
  return [id, name, number, set, label, reason, best || null]
}
