// Builds console and desk before the tests where their sources are newer than what was built; nodes read the pages at start.
import { execFileSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const SOURCES = ['ui', 'console', 'desk']

export default function setUp(): void {
  const builtAt = (app: string) => statSync(join(ROOT, 'dist', app, 'index.html'), { throwIfNoEntry: false })?.mtimeMs ?? 0
  const built = Math.min(builtAt('console'), builtAt('desk'))
  const files = SOURCES.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(ROOT, folder, file)),
  )
  if (files.some((file) => statSync(file).mtimeMs > built)) {
    // As it is installed: vitest sets `test`, which builds larger pages for developers.
    execFileSync(process.execPath, [join(ROOT, 'ui/build.ts')], { env: { ...process.env, NODE_ENV: 'production' } })
  }
}
