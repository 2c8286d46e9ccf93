// Builds what the checkout does not contain, each part only if its sources or packages are newer than the last build.
// npm runs it on installation, and again with the first `npx mintmark` of a checkout, when a running service reads the files.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const PARTS = [
  { name: 'types', sources: ['src'], script: 'bin/build-types.ts', built: ['client/src/api.ts', 'console/src/api-types.ts'] },
  { name: 'graphiql', sources: ['graphiql'], script: 'graphiql/build.ts', built: ['dist/graphiql/index.html'] },
  { name: 'pages', sources: ['ui', 'console', 'desk', 'client/src'], script: 'ui/build.ts', built: ['dist/console/index.html', 'dist/desk/index.html', 'dist/price-chart/price-chart.js'] },
  { name: 'client', sources: ['client/src'], script: 'client/build.ts', built: ['dist/client/client.js'] },
  { name: 'pictures', sources: ['sample'], script: 'sample/build-pictures.ts', built: ['dist/sample-pictures'] },
]

for (const { name, sources, script, built } of PARTS) {
  // Written last: a build that was interrupted is repeated.
  const stamp = `${ROOT}dist/.${name}`
  const builtMs = Math.min(...built.map((file) => changedMs(`${ROOT}${file}`) && changedMs(stamp)))
  const sourcesMs = Math.max(...['package-lock.json', ...sources].map((source) => newestMs(`${ROOT}${source}`)))
  if (builtMs > sourcesMs) continue
  const { status } = spawnSync(process.execPath, [`${ROOT}${script}`], { cwd: ROOT, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
  mkdirSync(`${ROOT}dist`, { recursive: true })
  writeFileSync(stamp, '')
}

/** 0 if the file does not exist. */
function changedMs(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}

/** Of a file, or of all files below a folder. */
function newestMs(path: string): number {
  const files = statSync(path).isDirectory() ? readdirSync(path, { recursive: true, encoding: 'utf8' }) : []
  return Math.max(changedMs(path), ...files.map((file) => changedMs(`${path}/${file}`)))
}
