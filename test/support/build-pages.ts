// Builds the console, the desk, the hosted client and the sample pictures before the tests if their sources have changed, because nodes read
// them at start.
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export default function setUp(): void {
  // As on installation; vitest sets `test`, with which larger development versions would be built.
  execFileSync(process.execPath, [fileURLToPath(new URL('../../bin/build.ts', import.meta.url))], {
    env: { ...process.env, NODE_ENV: 'production' },
  })
}
