// Builds console, desk, the served client and the pictures of the sample before the tests where their sources are newer than what was
// built; nodes read them at start.
import { execFileSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const BUILDS = [
  { script: 'ui/build.ts', sources: ['ui', 'console', 'desk'], built: ['dist/console/index.html', 'dist/desk/index.html'] },
  { script: 'client/build.ts', sources: ['client/src'], built: ['dist/client/client.js'] },
  { script: 'sample/build-pictures.ts', sources: ['sample'], built: ['dist/sample-pictures'] },
]

export default function setUp(): void {
  for (const { script, sources, built } of BUILDS) {
    const builtMs = Math.min(...built.map((file) => statSync(join(ROOT, file), { throwIfNoEntry: false })?.mtimeMs ?? 0))
    const files = sources.flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(ROOT, folder, file)),
    )
    if (files.every((file) => statSync(file).mtimeMs <= builtMs)) continue
    // As it is installed: vitest sets `test`, which builds larger pages for developers.
    execFileSync(process.execPath, [join(ROOT, script)], { env: { ...process.env, NODE_ENV: 'production' } })
  }
}
