// Builds the types of the client and of the console from the OpenAPI documents of the service; without openapi-typescript, nothing is built.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openApiDocuments } from './openapi-documents.ts'

const ROOT = join(import.meta.dirname, '..')
/** The generator's program, next to the TypeScript that it needs. */
const GENERATOR = ['build/', ''].map((folder) => join(ROOT, folder, 'node_modules/openapi-typescript/bin/cli.js')).find((file) => existsSync(file))
const OPTIONS = ['--root-types', '--root-types-no-schema-prefix', '--default-non-nullable=false']

/** The console needs neither examples nor errors by status; without them its types are half as long. */
function withoutExamples(document: object): object {
  const text = JSON.stringify(document, (key, value: unknown) =>
    key === 'example' || key === 'examples' || /^[45]\d\d$/.test(key) ? undefined : value,
  )
  return JSON.parse(text) as object
}

function writeTypes(generator: string, document: object, path: string, options: string[]): void {
  const folder = mkdtempSync(join(tmpdir(), 'mintmark-types-'))
  const [source, types] = [join(folder, 'openapi.json'), join(folder, 'types.ts')]
  writeFileSync(source, JSON.stringify(document))
  execFileSync(process.execPath, [generator, source, '--output', types, ...OPTIONS, ...options], { stdio: ['ignore', 'ignore', 'pipe'] })
  const text = readFileSync(types, 'utf8')
  // A file that stays the same keeps its time, so that nothing is built from it again.
  if (!existsSync(join(ROOT, path)) || readFileSync(join(ROOT, path), 'utf8') !== text) writeFileSync(join(ROOT, path), text)
  rmSync(folder, { recursive: true })
}

if (GENERATOR) {
  const { api, operator } = await openApiDocuments()
  writeTypes(GENERATOR, api, 'client/src/api.ts', [])
  writeTypes(GENERATOR, withoutExamples(operator), 'console/src/api-types.ts', ['--enum-values'])
} else {
  process.stdout.write('The types are not built: openapi-typescript is not installed\n')
}
