// Builds the types of the client and of the console, and the values of the console's enums, from the OpenAPI documents of the service. Without
// openapi-typescript, as after `npm ci --omit=dev`, it does nothing: the builds of both need no types.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openApiDocuments } from './openapi-documents.ts'

const ROOT = join(import.meta.dirname, '..')
const hasGenerator = ['', 'client/'].some((folder) => existsSync(join(ROOT, folder, 'node_modules/openapi-typescript')))

/** The console needs neither examples nor errors by status; without them its types are half as long. */
function withoutExamples(document: object): object {
  const text = JSON.stringify(document, (key, value: unknown) =>
    key === 'example' || key === 'examples' || /^[45]\d\d$/.test(key) ? undefined : value,
  )
  return JSON.parse(text) as object
}

function typesOf(document: object, options: string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'mintmark-types-'))
  const [source, types] = [join(folder, 'openapi.json'), join(folder, 'types.ts')]
  writeFileSync(source, JSON.stringify(document))
  execFileSync('npm', ['run', '--silent', 'types', '-w', 'client', '--', source, '--output', types, ...options], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const text = readFileSync(types, 'utf8')
  rmSync(folder, { recursive: true })
  return text
}

/** A file that stays the same keeps its time, so that nothing is built from it again. */
function writeChanged(path: string, text: string): void {
  if (!existsSync(join(ROOT, path)) || readFileSync(join(ROOT, path), 'utf8') !== text) writeFileSync(join(ROOT, path), text)
}

if (hasGenerator) {
  const { api, operator } = await openApiDocuments()
  writeChanged('client/src/api.ts', typesOf(api, []))
  const types = typesOf(withoutExamples(operator), ['--enum-values'])
  const values = types.indexOf('type FlattenedDeepRequired')
  writeChanged('console/src/api-types.ts', types.slice(0, values))
  const heading = "// The values of the operator API's enums, written by bin/build-types.ts and stored: the console is built without the generator.\n"
  writeChanged('console/src/api-values.ts', `${heading}import type { components, paths } from './api-types.ts'\n\n${types.slice(values)}`)
}
