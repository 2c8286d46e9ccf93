// Writes the series, sets and cards of a TCGdex database folder (`data` or `data-asia`) as NDJSON: node tcgdex.js <folder> > tcgdex.ndjson
import { readdirSync, readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

// The files import each other without extension, and types from `interfaces`, which do not exist at run time.
registerHooks({
  resolve: (specifier, context, next) =>
    /^\.{1,2}\//.test(specifier) && !specifier.endsWith('.ts')
      ? { url: pathToFileURL(`${resolve(dirname(fileURLToPath(context.parentURL)), specifier)}.ts`).href, shortCircuit: true }
      : next(specifier, context),
  load: (url, context, next) => {
    if (!url.endsWith('.ts')) return next(url, context)
    const text = readFileSync(fileURLToPath(url), 'utf8').replace(/^import .*\/interfaces(?:\.d)?['"];?\s*$/gm, '')
    return { format: 'module-typescript', source: text, shortCircuit: true }
  },
})

const folder = resolve(process.argv[2] ?? 'data')
// Series are files of the folder, sets one level below, cards two levels below.
const paths = readdirSync(folder, { recursive: true })
  .map((path) => path.split('\\').join('/'))
  .filter((path) => path.endsWith('.ts'))
  .sort((a, b) => a.split('/').length - b.split('/').length || (a < b ? -1 : 1))

for (const path of paths) {
  const depth = path.split('/').length
  try {
    const { default: row } = await import(pathToFileURL(join(folder, path)).href)
    const localId = path.slice(path.lastIndexOf('/') + 1, -'.ts'.length)
    if (depth === 1) print(row)
    if (depth === 2) print({ ...row, serie: row.serie.id })
    if (depth === 3) print({ id: `${row.set.id}-${localId}`, localId, ...row, set: row.set.id })
  } catch (error) {
    console.error(`${path}: ${error.message}`)
    process.exitCode = 1
  }
}

function print(row) {
  process.stdout.write(`${JSON.stringify(row)}\n`)
}
