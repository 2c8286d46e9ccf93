// Builds the console and the served client before the tests where their sources are newer than what was built; nodes read both at start.
import { execFileSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const BUILDS = [
  { script: 'console/build.ts', sources: 'console', built: 'dist/console/index.html' },
  { script: 'client/build.ts', sources: 'client/src', built: 'dist/client/client.js' },
]

export default function setUp(): void {
  for (const { script, sources, built } of BUILDS) {
    const builtMs = statSync(join(ROOT, built), { throwIfNoEntry: false })?.mtimeMs ?? 0
    const files = readdirSync(join(ROOT, sources), { recursive: true, encoding: 'utf8' })
    if (files.every((file) => statSync(join(ROOT, sources, file)).mtimeMs <= builtMs)) continue
    // As it is installed: vitest sets `test`, which builds a larger page for developers.
    execFileSync(process.execPath, [join(ROOT, script)], { env: { ...process.env, NODE_ENV: 'production' } })
  }
}
