// Time and chance have one source each, so that a node whose clock is moved, or a simulation, decides all of them.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { HOUR_MS } from '#core/duration.ts'
import { machineMs, replaceTimeAndChance } from '#core/process/time-and-chance.ts'
import { Scheduler } from '#jobs/scheduler.ts'

const ROOT = new URL('..', import.meta.url).pathname

/** Clock, timers and chance of the process. `setImmediate` may be used anywhere: it lets other work run, and no time passes. */
const OF_PROCESS = 'src/core/process/time-and-chance.ts'
/** The database's clock. */
const OF_DATABASE = 'src/db/connection/database-time.ts'
/** Secrets, which no seed may decide. */
const SECRETS = 'src/core/process/secret-bytes.ts'

/**
 * Migrations are not changed once they are released, so those up to this one may use the database's clock: mostly as a default of
 * columns, which no insert relies on (see below).
 */
const MIGRATIONS = 'src/db/migrations/'
const LAST_FREE_MIGRATION = '20261129_161000_search_terms.ts'

const CODE = new RegExp(
  [
    String.raw`\bDate\.now\b|\bnew Date(?:\(\)|\b(?!\())|\bperformance\.(?:now|timeOrigin)\b|\bhrtime\b|\bTemporal\.Now\b`,
    String.raw`(?<![.\w#])(?:setTimeout|setInterval)\(|\bsetTimeout as\b|\bAbortSignal\.timeout\b|\btimers/promises'`,
    String.raw`\bMath\.random\b|\brandomUUID\b|\brandomBytes\b|\brandomInt\b|\bgetRandomValues\b`,
  ].join('|'),
)
const SQL =
  /\b(?:now\(\)|(?:clock|statement|transaction)_timestamp\b|current_(?:timestamp|date|time)\b|local(?:time|timestamp)\b|random\(\)|gen_random_uuid\b|uuidv[47]\b|timeofday\b)/i
/** The event loop's next turn: no time passes. */
const NEXT_TURN = "import { setImmediate as nextTurn } from 'node:timers/promises'"

const files = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file))
  .map((file) => join('src', file))
  .filter((file) => !(file.startsWith(MIGRATIONS) && file.slice(MIGRATIONS.length) <= LAST_FREE_MIGRATION))
const texts = new Map(files.map((file) => [file, withoutComments(readFileSync(join(ROOT, file), 'utf8'))]))

/** Files in which a pattern occurs, with the first line of each. */
function uses(pattern: RegExp, textOf: (text: string) => string): string[] {
  return [...texts].flatMap(([file, text]) => {
    const line = textOf(text)
      .split('\n')
      .find((one) => pattern.test(one) && one !== NEXT_TURN)
    return line === undefined ? [] : [`${file}: ${line.trim()}`]
  })
}

test('one file reads the clock of the machine, its timers and its chance, and one draws secrets', () => {
  const found = uses(CODE, (text) => text)
  const fileOf = (use: string) => use.slice(0, use.indexOf(':'))
  expect(found.filter((use) => ![OF_PROCESS, SECRETS].includes(fileOf(use)))).toEqual([])
  expect(found.map(fileOf).toSorted()).toEqual([SECRETS, OF_PROCESS])
})

test('one file reads the clock of the database', () => {
  const found = uses(SQL, (text) => literals(text).join('\n'))
  expect(found.filter((use) => !use.startsWith(OF_DATABASE))).toEqual([])
  expect(found).toHaveLength(1)
})

test('no insert relies on a default with the clock of the database', () => {
  const tables = new Map(
    [...readFileSync(join(ROOT, 'src/db/tables.generated.ts'), 'utf8').matchAll(/^ {2}(\w+): \{\n([^}]*)\n {2}\}/gm)].map(([, table, columns]) => [
      table!,
      [...columns!.matchAll(/^ {4}(\w+): Generated<Date>$/gm)].map(([, column]) => column!),
    ]),
  )
  expect(tables.get('accounts')).toEqual(['created_at', 'updated_at'])
  // What `Stated` in `schema.ts` excepts; it covers the inserts that Kysely builds.
  for (const table of ['person_keys', 'start_marks']) tables.delete(table)
  const inserts = [...texts].flatMap(([file, text]) =>
    [...text.matchAll(/insert into (\w+)(?: as \w+)? \(([^)]*)\)/g)].map((found) => [file, ...found]),
  )
  expect(inserts.length).toBeGreaterThan(80)
  const incomplete = inserts.flatMap(([file, , table, columns]) => {
    const missing = (tables.get(table!) ?? []).filter((column) => !new RegExp(String.raw`\b${column}\b`).test(columns!))
    return missing.length > 0 ? [`${file}: ${table} without ${missing.join(', ')}`] : []
  })
  expect(incomplete).toEqual([])
})

test('what replaces them decides when periodic tasks run, without waiting', async () => {
  let nowMs = 0
  const timers: { atMs: number; run: () => void; unref: () => never }[] = []
  const restore = replaceTimeAndChance({
    machineMs: () => nowMs,
    monotonicMs: () => nowMs,
    startTimer: (run, ms) => {
      const timer = { atMs: nowMs + ms, run, unref: () => timer as never }
      timers.push(timer)
      return timer
    },
    stopTimer: (timer) => void timers.splice(timers.indexOf(timer as never), 1),
  })
  const scheduler = new Scheduler({ error: () => {}, warn: () => {}, info: () => {}, debug: () => {} })
  const ran: number[] = []
  scheduler.add({ name: 'hourly', intervalMs: HOUR_MS, run: async () => ran.push(nowMs) })
  while (ran.length < 5) {
    await new Promise(setImmediate)
    const [timer] = timers.splice(0, 1)
    if (!timer) continue
    nowMs = timer.atMs
    timer.run()
  }
  await scheduler.stop()
  restore()
  expect(ran).toEqual([0, 1, 2, 3, 4].map((hours) => hours * HOUR_MS))
  expect(machineMs()).toBeGreaterThan(nowMs)
})

test('uses are found', () => {
  const used = (code: string) => CODE.test(withoutComments(code))
  for (const code of ['Date.now()', 'new Date()', 'new Date', 'performance.now()', 'setTimeout(end, 5)', 'Math.random()'])
    expect(used(code), code).toBe(true)
  for (const code of ['new Date(ms)', 'now()', 'socket.setTimeout(5)', '// Date.now()']) expect(used(code), code).toBe(false)
  const inSql = (code: string) => SQL.test(literals(code.replaceAll('<', '${').replaceAll('>', '}')).join('\n'))
  for (const code of ['sql`select now()`', "'now()'", 'sql`a <f(`b now()`)> c`']) expect(inSql(code), code).toBe(true)
  for (const code of ['now()', 'sql`select <now()>`', 'sql`<g({ at: now() })> <`x`>`', "f('a', now(), 'b')"]) expect(inSql(code), code).toBe(false)
})

/** The text of string and template literals, without what is interpolated. */
function literals(code: string): string[] {
  const found: string[] = []
  /** the open templates and, between them, the braces of interpolated code */
  const open: ('template' | number)[] = [0]
  let text = ''
  for (let i = 0; i < code.length; i += 1) {
    const at = open.at(-1)!
    const char = code[i]!
    if (at === 'template') {
      if (char === '\\') i += 1
      else if (char === '`') {
        open.pop()
        found.push(text)
        text = ''
      } else if (char === '$' && code[i + 1] === '{') {
        i += 1
        found.push(text)
        text = ''
        open.push(0)
      } else text += char
    } else if (char === '`') open.push('template')
    else if (char === '{') open[open.length - 1] = at + 1
    else if (char === '}' && at > 0) open[open.length - 1] = at - 1
    else if (char === '}' && open.length > 1) open.pop()
    else if (char === "'" || char === '"') {
      const quoted = new RegExp(String.raw`${char}((?:[^${char}\\\n]|\\.)*)${char}`, 'y')
      quoted.lastIndex = i
      const match = quoted.exec(code)
      if (match) {
        found.push(match[1]!)
        i += match[0].length - 1
      }
    }
  }
  return found
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/(^|\s)\/\/.*$/gm, '$1')
}
