// Rows of a backup: personal columns are sealed with the keys of their people on the way out, and opened on the way in.
import type { EntryOfPerson } from './audit-entries.ts'
import { openEntries, sealEntries } from './audit-entries.ts'
import { ERASED_TEXT, openWith, type PersonKeys } from './person-keys.ts'
import { ownerOf, type PersonRef, words } from './rows-of-person.ts'
import { type PersonKind, TABLES_OF_PEOPLE } from './tables-of-people.ts'

const NULL = '\\N'
const KINDS: readonly PersonKind[] = ['account', 'buyer']
/** Rows whose keys are prepared together. */
const BATCH = 1_000

/** Columns of a table that are sealed, with the kind of person whose key seals them; a buyer's reference waits in `erasures` until it is erased. */
function sealedColumns(table: string): Map<string, PersonKind> {
  if (table === 'audit_log')
    return new Map([
      ['before', 'account'],
      ['after', 'account'],
    ])
  if (table === 'erasures') return new Map([['buyer_reference', 'buyer']])
  const { personal, changes } = TABLES_OF_PEOPLE[table] ?? {}
  return new Map([
    ...words(personal).map((column) => [column, 'account'] as const),
    ...Object.entries(changes ?? {}).map(([column, { of }]) => [column, of] as const),
  ])
}

/** How the rows of a table leave the database; null if none of its columns are sealed. */
export interface SealedTable {
  table: string
  columns: readonly string[]
  sealed: Map<string, PersonKind>
  /** the columns to select, with the owners of the row at the end */
  select: string
}

/** @param columns columns of the table, in the order of the backup */
export function sealedTable(table: string, columns: readonly string[]): SealedTable | null {
  const sealed = sealedColumns(table)
  if (sealed.size === 0) return null
  const owners = KINDS.map((kind) => ownersIn(table, kind))
  return { table, columns, sealed, select: [...columns.map((column) => `t."${column}"`), ...owners].join(', ') }
}

function ownersIn(table: string, kind: PersonKind): string {
  if (table === 'erasures') return kind === 'buyer' ? 't."buyer_reference"' : 'null'
  if (table !== 'audit_log') return ownerOf(table, kind, 't') ?? 'null'
  if (kind === 'account') return 'null'
  return `case when t.subject_type = 'order' and t.subject_id ~ '^[0-9]{1,18}$'
    then (select b.reference from order_buyers b where b.order_id = t.subject_id::int8) end`
}

/** Lines of COPY with sealed columns, without the owners. */
export async function* sealLines(keys: PersonKeys, rows: SealedTable, chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  for await (const chunk of chunks) {
    const lines = chunk.toString('utf8').split('\n')
    lines.pop()
    for (let at = 0; at < lines.length; at += BATCH) {
      const fields = lines.slice(at, at + BATCH).map((line) => line.split('\t'))
      const sealed = rows.table === 'audit_log' ? await sealAudit(keys, rows.columns, fields) : await sealFields(keys, rows, fields)
      yield sealed.map((line) => `${line.join('\t')}\n`).join('')
    }
  }
}

/** Values keep the form of COPY, so that they are stored exactly as they were. */
async function sealFields(keys: PersonKeys, { columns, sealed }: SealedTable, lines: string[][]): Promise<string[][]> {
  const ownerAt = (line: string[], kind: PersonKind): PersonRef | null => {
    const value = line[columns.length + KINDS.indexOf(kind)]!
    if (value === NULL) return null
    return kind === 'account' ? { kind, id: Number(value) } : { kind, reference: unescaped(value) }
  }
  const places = [...sealed].map(([column, kind]) => ({ at: columns.indexOf(column), kind }))
  await keys.prepare(lines.flatMap((line) => KINDS.map((kind) => ownerAt(line, kind)).filter((one) => one !== null)))
  return lines.map((line) => {
    const out = line.slice(0, columns.length)
    for (const { at, kind } of places) {
      const owner = ownerAt(line, kind)
      if (owner && out[at] !== NULL) out[at] = keys.seal(out[at]!, owner)
    }
    return out
  })
}

async function sealAudit(keys: PersonKeys, columns: readonly string[], lines: string[][]): Promise<string[][]> {
  const at = (name: string) => columns.indexOf(name)
  const textAt = (line: string[], name: string) => (line[at(name)] === NULL ? null : unescaped(line[at(name)]!))
  const entries = lines.map((line): EntryOfPerson => {
    const buyer = line[columns.length + KINDS.indexOf('buyer')]!
    return {
      actor: textAt(line, 'actor')!,
      subject_type: textAt(line, 'subject_type')!,
      subject_id: textAt(line, 'subject_id')!,
      before: textAt(line, 'before'),
      after: textAt(line, 'after'),
      order_buyer: buyer === NULL ? null : unescaped(buyer),
    }
  })
  const sealed = await sealEntries(keys, entries)
  return lines.map((line, i) => {
    const out = line.slice(0, columns.length)
    for (const name of ['before', 'after'] as const) out[at(name)] = escaped(sealed[i]![name])
    return out
  })
}

/** Texts of COPY: values here have no control characters but those that it writes with a backslash. */
const ESCAPES: Record<string, string> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }

function unescaped(field: string): string {
  return field.includes('\\') ? field.replace(/\\(.)/gs, (_, letter: string) => ESCAPES[letter] ?? letter) : field
}

function escaped(text: string | null): string {
  if (text === null) return NULL
  return text.replace(/[\\\n\r\t]/g, (letter) => ({ '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' })[letter]!)
}

/** What the database allows in a column. */
export interface ColumnFacts {
  nullable: boolean
  type: string
}

/** Opens the sealed columns of a backup; texts without a key become empty or `[erased]`. */
export class OpenedRows {
  readonly #keys: ReadonlyMap<number, Buffer>
  /** accounts whose texts could not be opened, which must be erased again */
  readonly erasedAccounts = new Set<number>()
  #erased = 0

  constructor(keys: ReadonlyMap<number, Buffer>) {
    this.#keys = keys
  }

  /** @param facts by column */
  async *lines(
    table: string,
    columns: readonly string[],
    facts: ReadonlyMap<string, ColumnFacts>,
    batches: AsyncIterable<string>,
  ): AsyncGenerator<string> {
    const sealed = [...sealedColumns(table).keys()].map((name) => columns.indexOf(name)).filter((at) => at >= 0)
    if (sealed.length === 0) return yield* batches
    for await (const batch of batches) {
      const lines = batch.split('\n')
      lines.pop()
      const opened = []
      for (const line of lines) {
        const fields = line.split('\t')
        for (const at of sealed)
          fields[at] = table === 'audit_log' ? await this.#openAudit(fields[at]!) : this.#open(table, columns, fields, at, facts)
        opened.push(`${fields.join('\t')}\n`)
      }
      yield opened.join('')
    }
  }

  #open(table: string, columns: readonly string[], fields: string[], at: number, facts: ReadonlyMap<string, ColumnFacts>): string {
    const text = openWith(fields[at]!, (id) => this.#keys.get(id) ?? null)
    if (text !== null) return text
    if (table === 'accounts') {
      const id = Number(fields[columns.indexOf('id')])
      this.erasedAccounts.add(id)
      return `Erased account ${id}`
    }
    const { nullable = true, type = 'text' } = facts.get(columns[at]!) ?? {}
    if (nullable) return NULL
    if (type === 'jsonb') return LISTS.has(columns[at]!) ? '[]' : '{}'
    if (type.endsWith('[]')) return '{}'
    this.#erased += 1
    return `${ERASED_TEXT} ${this.#erased}`
  }

  async #openAudit(field: string): Promise<string> {
    if (field === NULL || !field.includes('sealed:')) return field
    const opener = { prepareSealed: async () => {}, open: (text: string) => openWith(text, (id) => this.#keys.get(id) ?? null) ?? ERASED_TEXT }
    const [entry] = await openEntries(opener, [{ before: null, after: unescaped(field) }])
    return escaped(entry!.after)
  }
}

/** JSON columns that contain a list. */
const LISTS: ReadonlySet<string> = new Set(['images', 'columns', 'candidates'])
