// The client as users install it: packed, with its dependencies, in an empty project.
import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

export interface Project {
  directory: string
  remove: () => void
}

/** Creates the project without network access: the dependencies are packed from the checkout. */
export async function installClient(): Promise<Project> {
  const directory = mkdtempSync(join(tmpdir(), 'mintmark-client-'))
  const copy = copyOfClient()
  await run('npm', ['pack', '--silent', '--pack-destination', directory], { cwd: join(copy, 'client') })
  rmSync(copy, { recursive: true })
  const dependencies = ['openapi-fetch', 'openapi-typescript-helpers'].map((name) => join(ROOT, 'node_modules', name))
  await run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', directory, ...dependencies], { cwd: directory })
  const packed = readdirSync(directory).map((file) => `./${file}`)
  writeFileSync(join(directory, 'package.json'), '{"private": true, "type": "module"}')
  await run('npm', ['install', '--silent', '--offline', '--no-audit', '--no-fund', ...packed], { cwd: directory })
  return { directory, remove: () => rmSync(directory, { recursive: true, force: true }) }
}

/** A checkout that contains only the client: packing builds it in its folder, where concurrent tests would overwrite each other's files. */
function copyOfClient(): string {
  const copy = mkdtempSync(join(tmpdir(), 'mintmark-checkout-'))
  const from = join(ROOT, 'client')
  cpSync(from, join(copy, 'client'), { recursive: true, filter: (path) => !['node_modules', 'dist'].includes(basename(path)) })
  for (const modules of ['node_modules', 'client/node_modules']) symlinkSync(join(ROOT, modules), join(copy, modules))
  return copy
}
