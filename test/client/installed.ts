// The client as its users get it: packed, and installed with what it depends on in an empty project.
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

export interface Project {
  directory: string
  remove: () => void
}

/** Creates the project without the network: the dependencies are packed from the checkout. */
export async function installClient(): Promise<Project> {
  const directory = mkdtempSync(join(tmpdir(), 'mintmark-client-'))
  await run('npm', ['pack', '--silent', '-w', 'client', '--pack-destination', directory], { cwd: ROOT })
  const dependencies = ['openapi-fetch', 'openapi-typescript-helpers'].map((name) => join(ROOT, 'node_modules', name))
  await run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', directory, ...dependencies], { cwd: directory })
  const packed = readdirSync(directory).map((file) => `./${file}`)
  writeFileSync(join(directory, 'package.json'), '{"private": true, "type": "module"}')
  await run('npm', ['install', '--silent', '--offline', '--no-audit', '--no-fund', ...packed], { cwd: directory })
  return { directory, remove: () => rmSync(directory, { recursive: true, force: true }) }
}
