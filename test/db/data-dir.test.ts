// The lock on a data directory, and its secrets.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { canRead, claimDataDir, ensureSecret, identify } from '#db/local/data-dir.ts'

let parent: string
let dataDir: string

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'mintmark-data-'))
  dataDir = join(parent, 'deep/data')
})

afterEach(() => rmSync(parent, { recursive: true, force: true }))

test('is created private, claimed once, and free again after release', () => {
  const claim = claimDataDir(dataDir)
  expect(statSync(dataDir).mode & 0o777).toBe(0o700)
  expect(() => claimDataDir(dataDir)).toThrow(new Error(`DATA_DIR ${dataDir} is in use by another mintmark (process ${process.pid})`))
  claim.release()
  claimDataDir(dataDir).release()
  expect(readdirSync(dataDir)).toEqual([])
})

test('a claim of a killed process, of a reused process id, or a truncated one is replaced', async () => {
  mkdirSync(dataDir, { recursive: true })
  const child = spawn('sleep', ['60'])
  await once(child, 'spawn')
  const dead = identify(child.pid!)!
  child.kill('SIGKILL')
  await once(child, 'exit')
  for (const stale of [JSON.stringify(dead), JSON.stringify({ pid: process.pid, started: '1' }), '']) {
    writeFileSync(join(dataDir, 'mintmark.pid'), stale)
    claimDataDir(dataDir).release()
  }
  expect(readdirSync(dataDir)).toEqual([])
})

test('of many concurrent claims, one succeeds', async () => {
  const program = `
    import { claimDataDir } from '#db/local/data-dir.ts'
    try {
      claimDataDir(${JSON.stringify(dataDir)})
      console.log('mine')
      setInterval(() => {}, 1000)
    } catch (error) {
      console.log(error.message)
    }`
  mkdirSync(dataDir, { recursive: true })
  writeFileSync(join(dataDir, 'mintmark.pid'), JSON.stringify({ pid: 1, started: 'long ago' }))
  const args = ['--no-warnings', '--input-type=module-typescript', '-e', program]
  const run = () => spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const children = [run(), run(), run(), run()]
  const said = await Promise.all(children.map(async (child) => String((await once(child.stdout, 'data'))[0]).trim()))
  expect(said.filter((line) => line === 'mine')).toHaveLength(1)
  expect(said.filter((line) => line.includes('is in use by another mintmark'))).toHaveLength(3)
  for (const child of children) child.kill('SIGKILL')
})

test('reports in one sentence that the directory is not writable', () => {
  mkdirSync(join(parent, 'deep'))
  writeFileSync(dataDir, 'a file')
  expect(() => claimDataDir(dataDir)).toThrow(new Error(`DATA_DIR ${dataDir} is not writable: file already exists`))
})

test('secrets are long, private and permanent', () => {
  mkdirSync(dataDir, { recursive: true })
  const secret = ensureSecret(dataDir, 'secret-key')
  expect(secret).toMatch(/^[\w-]{43}$/)
  expect(ensureSecret(dataDir, 'secret-key')).toBe(secret)
  expect(ensureSecret(dataDir, 'other')).not.toBe(secret)
  expect(statSync(join(dataDir, 'secret-key')).mode & 0o777).toBe(0o600)
  expect(existsSync(join(dataDir, `secret-key.${process.pid}`))).toBe(false)
})

test('accessibility follows the mode bits of all parent directories', () => {
  mkdirSync(dataDir, { recursive: true, mode: 0o755 })
  chmodSync(parent, 0o711)
  const stranger = { name: 'stranger', uid: 54_321, gid: 54_321 }
  expect(canRead(dataDir, stranger)).toBe(true)
  chmodSync(join(parent, 'deep'), 0o744)
  expect(canRead(dataDir, stranger)).toBe(false)
  const { uid, gid } = statSync(parent)
  expect(canRead(dataDir, { name: 'owner', uid, gid })).toBe(true)
})
