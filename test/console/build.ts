// Builds the console before the tests where its sources are newer than what was built; nodes read the pages at start.
import { execFileSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const SOURCES = fileURLToPath(new URL('../../console', import.meta.url))
const BUILT = fileURLToPath(new URL('../../dist/console/index.html', import.meta.url))

export default function setUp(): void {
  const built = statSync(BUILT, { throwIfNoEntry: false })?.mtimeMs ?? 0
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
  if (files.some((file) => statSync(join(SOURCES, file)).mtimeMs > built)) {
    // As it is installed: vitest sets `test`, which builds a larger page for developers.
    execFileSync(process.execPath, [join(SOURCES, 'build.ts')], { env: { ...process.env, NODE_ENV: 'production' } })
  }
}
