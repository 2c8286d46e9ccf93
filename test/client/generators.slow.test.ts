// Third-party generators with our OpenAPI documents: each accepts both documents, its output type-checks and uses meaningful
// names, and the service accepts the calls.
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestNode, type TestNode } from '../support/node.ts'

const run = promisify(execFile)
const TSC = fileURLToPath(new URL('lib/tsc.js', import.meta.resolve('typescript/package.json')))
const TYPESCRIPT_5 = new URL('typescript-5.ts', import.meta.url).href

const directory = mkdtempSync(join(tmpdir(), 'mintmark-generators-'))
const at = (name: string) => join(directory, name)
const generate = (script: string, args: string[], env = {}) =>
  run('npm', ['run', '--silent', script, '-w', 'client', '--', ...args], { env: { ...process.env, ...env } })
let node: TestNode

/** The names that integrators use, by document. */
const NAMES = {
  public:
    'Item Price Category Group Listing OwnListing UpdateListingInput CollectionRecord AddCollectionItemInput Webhook SaleEvent MarketCode ListingStatus ErrorCode',
  operator: 'Account ApiKey StoredItem StoredListing Order RecordOrderInput PostPricesInput Import HeldPrice AuditRow Plan MarketCode ErrorCode',
}
const DOCUMENTS = Object.keys(NAMES) as (keyof typeof NAMES)[]

beforeAll(async () => {
  node = await startTestNode({ worker: true })
  const urls = { public: `${node.publicUrl}/openapi.json`, operator: `${node.operatorUrl}/operator/openapi.json` }
  for (const document of DOCUMENTS) writeFileSync(at(`${document}.json`), await (await fetch(urls[document])).text())
})

afterAll(async () => {
  await node.close()
  rmSync(directory, { recursive: true, force: true })
})

/** A module that type-checks only if the generated module exports these names. */
function expectNames(generator: string, document: keyof typeof NAMES, module: string): void {
  const names = NAMES[document].split(' ')
  writeFileSync(
    at(`${generator}-${document}-names.ts`),
    `import type { ${names.join(', ')} } from '${module}'\nexport type Names = [${names.join(', ')}]\n`,
  )
}

test('openapi-typescript', async () => {
  for (const document of DOCUMENTS) {
    await generate('types', [at(`${document}.json`), '--output', at(`${document}-types.ts`)])
    expectNames('openapi-typescript', document, `./${document}-types.ts`)
  }
})

test('orval, whose client sends lists as the service reads them', async () => {
  const jobs = DOCUMENTS.map((document) => {
    const output = { target: at(`orval-${document}/api.ts`), schemas: at(`orval-${document}/model`), client: 'fetch', baseUrl: node.publicUrl }
    return [document, { input: { target: at(`${document}.json`) }, output }]
  })
  writeFileSync(at('orval.config.mjs'), `export default ${JSON.stringify(Object.fromEntries(jobs))}`)
  await generate('orval', ['--config', at('orval.config.mjs'), '--fail-on-warnings'])
  for (const document of DOCUMENTS) expectNames('orval', document, `./orval-${document}/model`)
  const api = (await import(at('orval-public/api.ts'))) as Record<string, (params: object, init: RequestInit) => Promise<object>>
  expect(Object.keys(api)).toEqual(expect.arrayContaining(['listItems', 'searchItems', 'getItem', 'searchListings', 'updateListingPrice']))
  const init = { headers: { authorization: `Bearer ${node.keys.plus}` } }
  expect(await api.searchListings!({ 'game[]': ['pokemon', 'onepiece'], with_item: true }, init)).toMatchObject({
    status: 200,
    data: { success: true },
  })
  expect(await api.searchListings!({ 'grade_filters[]': ['x'] }, init)).toMatchObject({
    status: 422,
    data: { error: { details: [{ field: 'grade_filters' }] } },
  })
})

test('@hey-api/openapi-ts, whose client sends lists as the service reads them', async () => {
  for (const document of DOCUMENTS) {
    const args = ['--input', at(`${document}.json`), '--output', at(`hey-api-${document}`), '--no-log-file']
    await generate('openapi-ts', args, { NODE_OPTIONS: `--import=${TYPESCRIPT_5}` })
    expectNames('hey-api', document, `./hey-api-${document}`)
  }
  const api = (await import(at('hey-api-public/sdk.gen.ts'))) as Record<string, (options: object) => Promise<object>>
  const options = { baseUrl: node.publicUrl, auth: node.keys.plus }
  expect(await api.searchListings!({ ...options, query: { 'game[]': ['pokemon', 'onepiece'] } })).toMatchObject({ data: { success: true } })
  expect(await api.searchListings!({ ...options, query: { 'grade_filters[]': ['x'] } })).toMatchObject({
    error: { error: { details: [{ field: 'grade_filters' }] } },
  })
})

test('all generated code type-checks', async () => {
  const compilerOptions = {
    target: 'es2022',
    module: 'esnext',
    moduleResolution: 'bundler',
    lib: ['es2022', 'dom', 'dom.iterable'],
    types: [],
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
  }
  writeFileSync(at('tsconfig.json'), JSON.stringify({ compilerOptions, include: ['**/*.ts'] }))
  const outcome = await run(process.execPath, [TSC, '-p', directory]).catch((error: { stdout: string }) => error)
  expect(outcome.stdout).toBe('')
})
