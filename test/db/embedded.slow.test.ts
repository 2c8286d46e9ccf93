// The embedded server: starts, keeps its data, and recovers from every kind of kill.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { processStart } from '#db/local/data-dir.ts'
import { embeddedConnection, type EmbeddedServer, startEmbedded } from '#db/local/embedded.ts'

const isRoot = process.getuid?.() === 0
let dataDir: string
let lines: string[]
let running: EmbeddedServer[]

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'mintmark-embedded-'))
  lines = []
  running = []
})

afterEach(async () => {
  for (const server of running) await server.stop()
  const location = join(dataDir, 'postgres-location')
  if (existsSync(location)) rmSync(readFileSync(location, 'utf8'), { recursive: true, force: true })
  rmSync(dataDir, { recursive: true, force: true })
})

async function start(directory = dataDir): Promise<EmbeddedServer> {
  // A recovery is reported only if it takes long, as on a busy machine.
  const note = (line: string) => void (line.includes('recovering from a crash') || lines.push(line))
  const log = { info: note, warn: note }
  const server = await startEmbedded({ dataDir: directory, log })
  running.push(server)
  return server
}

async function query(url: string, text: string): Promise<unknown[][]> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query<unknown[]>({ text, rowMode: 'array' })).rows
  } finally {
    await client.end()
  }
}

/** Another process of this program that runs the server. */
async function startElsewhere(): Promise<{ child: ChildProcess; serverPid: number; url: string }> {
  const program = `
    import { startEmbedded } from '#db/local/embedded.ts'
    const log = { info() {}, warn() {} }
    const server = await startEmbedded({ dataDir: ${JSON.stringify(dataDir)}, log })
    console.log(JSON.stringify({ serverPid: server.pid(), url: server.url }))
    setInterval(() => {}, 1000)`
  const args = ['--no-warnings', '--input-type=module-typescript', '-e', program]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const [output] = (await once(child.stdout, 'data')) as [Buffer]
  return { child, ...(JSON.parse(output.toString()) as { serverPid: number; url: string }) }
}

async function killHard(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL')
  await once(child, 'exit')
}

async function gone(pid: number): Promise<void> {
  await expect.poll(() => processStart(pid), { interval: 10 }).toBeNull()
}

test('keeps data across starts, privately', async () => {
  const first = await start()
  await query(first.url, 'create table kept as select 7 as n')
  await first.stop()
  await first.stop()
  expect(embeddedConnection(dataDir)).toBeNull()
  const second = await start()
  expect(await query(second.url, 'select n from kept')).toEqual([[7]])
  expect(second.describe).toMatch(/^PostgreSQL 18\.\d+ \(embedded\), data in \//)
  expect(embeddedConnection(dataDir)).toBe(second.url)
  for (const file of ['postgres-password', 'postgres-connection.json', 'postgres.log']) {
    expect(statSync(join(dataDir, file)).mode & 0o077).toBe(0)
  }
  expect(await query(second.url, 'show data_checksums')).toEqual([['on']])
  expect(await query(second.url, 'show fsync')).toEqual([['on']])
  expect(await query(second.url, 'show server_encoding')).toEqual([['UTF8']])
  await expect(query(second.url.replace(/:[^:@]+@/, ':wrong@'), 'select 1')).rejects.toThrow('password')
})

test('restarts a killed server on the same address', async () => {
  const server = await start()
  await query(server.url, 'create table kept as select 7 as n')
  const killed = server.pid()
  process.kill(killed, 'SIGKILL')
  await expect.poll(() => server.pid(), { interval: 10 }).not.toBe(killed)
  expect(await query(server.url, 'select n from kept')).toEqual([[7]])
  expect(lines).toEqual(['Embedded PostgreSQL exited unexpectedly; restarting it'])
})

test('starts after the program and the server were killed together', async () => {
  const { child, serverPid, url } = await startElsewhere()
  await query(url, 'create table kept as select 7 as n')
  expect(embeddedConnection(dataDir)).toBe(url)
  await expect(start()).rejects.toThrow(`DATA_DIR ${dataDir} is in use by another mintmark (process ${child.pid})`)
  await killHard(child)
  process.kill(serverPid, 'SIGKILL')
  await gone(serverPid)
  expect(existsSync(join(dataDir, 'postgres/postmaster.pid'))).toBe(true)
  expect(embeddedConnection(dataDir)).toBeNull()
  const server = await start()
  expect(await query(server.url, 'select n from kept')).toEqual([[7]])
  expect(lines).toEqual([])
})

test('stops the server of a killed program, and starts a new one', async () => {
  const { child, serverPid, url } = await startElsewhere()
  await query(url, 'create table kept as select 7 as n')
  await killHard(child)
  expect(processStart(serverPid)).not.toBeNull()
  const server = await start()
  expect(processStart(serverPid)).toBeNull()
  expect(await query(server.url, 'select n from kept')).toEqual([[7]])
  expect(lines).toEqual([`Stopping PostgreSQL (process ${serverPid}), left running by a killed mintmark`])
})

test('ignores a lock whose process id now belongs to another program', async () => {
  const first = await start()
  await first.stop()
  const lock = join(dataDir, 'postgres/postmaster.pid')
  writeFileSync(lock, `${process.pid}\n${join(dataDir, 'postgres')}\n`)
  writeFileSync(join(dataDir, 'postgres/.s.PGSQL.5432.lock'), `${process.pid}\n`)
  const owner = statSync(join(dataDir, 'postgres'))
  for (const file of [lock, join(dataDir, 'postgres/.s.PGSQL.5432.lock')]) chownSync(file, owner.uid, owner.gid)
  const server = await start()
  expect(await query(server.url, 'select 1')).toEqual([[1]])
})

test('an interrupted creation is restarted', async () => {
  mkdirSync(join(dataDir, 'postgres.new/base'), { recursive: true })
  const server = await start()
  expect(await query(server.url, 'select 1')).toEqual([[1]])
  expect(existsSync(join(dataDir, 'postgres.new'))).toBe(false)
})

test('works if the path is too long for a socket', async () => {
  const long = join(dataDir, 'a'.repeat(100), 'b'.repeat(100))
  mkdirSync(dirname(long))
  chmodSync(dataDir, 0o711)
  mkdirSync(long)
  const server = await start(long)
  const socketDir = new URL(server.url.replace('@/', '@localhost/')).searchParams.get('host')!
  expect(socketDir.length).toBeLessThan(80)
  expect(await query(server.url, 'select 1')).toEqual([[1]])
  await server.stop()
  expect(existsSync(socketDir)).toBe(false)
})

test("reports in one line, with PostgreSQL's message, why it cannot start", async () => {
  const server = await start()
  await server.stop()
  writeFileSync(join(dataDir, 'postgres/PG_VERSION'), '9\n')
  const words = 'Embedded PostgreSQL cannot start: database files are incompatible with server'
  await expect(start()).rejects.toThrow(new Error(words))
})

test('says what to do where the password of the database is gone, and leaves the data as it is', async () => {
  const first = await start()
  await query(first.url, 'create table kept as select 7 as n')
  await first.stop()
  const password = readFileSync(join(dataDir, 'postgres-password'))
  rmSync(join(dataDir, 'postgres-password'))
  const data = join(dataDir, 'postgres')
  const remedy = `Restore this file from a backup or, to start with an empty database, move ${data} away`
  await expect(start()).rejects.toThrow(`DATA_DIR ${dataDir} has no postgres-password, but its database exists in ${data}. ${remedy}`)
  writeFileSync(join(dataDir, 'postgres-password'), password, { mode: 0o600 })
  const second = await start()
  expect(await query(second.url, 'select n from kept')).toEqual([[7]])
})

test.runIf(isRoot)('as root, works in a directory that only root can enter', async () => {
  const closed = join(dataDir, 'closed')
  mkdirSync(closed, { mode: 0o700 })
  chmodSync(dataDir, 0o700)
  const inside = join(closed, 'data')
  mkdirSync(inside, { mode: 0o700 })
  const first = await start(inside)
  const dataFolder = readFileSync(join(inside, 'postgres-location'), 'utf8')
  try {
    expect(lines).toHaveLength(1)
    expect(lines[0]).toContain(dataFolder)
    await query(first.url, 'create table kept as select 7 as n')
    await first.stop()
    const second = await start(inside)
    expect(await query(second.url, 'select n from kept')).toEqual([[7]])
    await second.stop()
    const saved = join(dataDir, 'saved')
    renameSync(inside, saved)
    mkdirSync(inside, { mode: 0o700 })
    await expect(start(inside)).rejects.toThrow(`has no postgres-password, but its database exists in ${dataFolder}/postgres`)
    renameSync(join(dataFolder, 'postgres'), join(dataFolder, 'moved'))
    const third = await start(inside)
    expect(await query(third.url, "select count(*)::int from pg_tables where tablename = 'kept'")).toEqual([[0]])
    await third.stop()
  } finally {
    rmSync(dataFolder, { recursive: true, force: true })
  }
  await expect(start(inside)).rejects.toThrow(`is missing; it was stored in ${dataFolder}/postgres`)
})
