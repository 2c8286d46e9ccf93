// The client as users install it: packed, installed in an empty project, loaded by every supported runtime and type-checked.
import { execFile } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestNode, type TestNode } from '../support/node.ts'
import { installClient, type Project, ROOT } from './installed.ts'

const run = promisify(execFile)

interface Runtime {
  name: string
  /** package of the registry that contains the runtime's program */
  from: string
  /** the program in that package */
  program: string
  args?: string[]
}

const PLATFORM = `${process.platform}-${process.arch}`
/** The runtimes besides the project's own Node; CI installs missing ones, elsewhere their tests are skipped. */
const RUNTIMES: Runtime[] = [
  ...['18.20.8', '20.20.2', '22.23.3', '24.21.0'].map((release) => ({
    name: `Node ${release}`,
    from: `node-${PLATFORM}@${release}`,
    program: `node-${release}/bin/node`,
  })),
  {
    name: 'Deno',
    from: `@deno/${PLATFORM}${process.platform === 'linux' ? '-glibc' : ''}@2.9.6`,
    program: 'deno/deno',
    args: ['run', '--allow-net', '--allow-env', '--allow-read'],
  },
  { name: 'Bun', from: `@oven/bun-${PLATFORM.replace('arm64', 'aarch64')}@1.4.5`, program: 'bun/bin/bun' },
]
const DIRECTORY = join(ROOT, 'node_modules/.cache/mintmark-nodes')
const programOf = ({ program }: Runtime) => join(DIRECTORY, 'node_modules', program)
const MISSING = RUNTIMES.filter((runtime) => !existsSync(programOf(runtime)))

let node: TestNode
let project: Project
const at = (file: string) => join(project.directory, file)

beforeAll(async () => {
  const installed = process.env.CI && MISSING.length > 0 ? installRuntimes() : null
  node = await startTestNode({ worker: true })
  project = await installClient()
  await installed
})

/** Installed by a single npm, which downloads all of them at the same time. */
async function installRuntimes(): Promise<void> {
  mkdirSync(DIRECTORY, { recursive: true })
  writeFileSync(join(DIRECTORY, 'package.json'), '{"private": true}')
  const named = RUNTIMES.map(({ from, program }) => `${program.split('/')[0]}@npm:${from}`)
  await run('npm', ['install', '--silent', '--no-audit', '--no-fund', ...named], { cwd: DIRECTORY })
}

afterAll(async () => {
  await node.close()
  project.remove()
})

const PROGRAM = `
import { Mintmark, MintmarkError, verifyWebhook } from '@mintmark/client'
const [baseUrl, apiKey, body, signature] = process.argv.slice(2)
const client = new Mintmark({ baseUrl, apiKey })
const { pagination } = await client.get('/api/v1/items', { params: { query: { per_page: 1 } } })
const error = await client.post('/api/v1/plus/make-highlight', { params: { query: { id: 999999 } } }).catch((reason) => reason)
const headers = { 'x-service-signature': signature }
const event = await verifyWebhook(body, headers, 'secret')
const forged = await verifyWebhook(body + ' ', headers, 'secret')
console.log(JSON.stringify([pagination.per_page, error instanceof MintmarkError, error.code, event?.event, forged]))
`

async function use(binary: string, args: string[] = []): Promise<void> {
  writeFileSync(at('program.js'), PROGRAM)
  const body = JSON.stringify({ event: 'expire', sent_at: new Date().toISOString(), data: {} })
  const signature = createHmac('sha256', 'secret').update(body).digest('hex')
  const { stdout } = await run(binary, [...args, 'program.js', node.publicUrl!, node.keys.plus, body, signature], { cwd: project.directory })
  expect(JSON.parse(stdout)).toEqual([1, true, 'PLUS_LISTING_ERROR', 'expire', null])
}

test("works on the project's Node", () => use(process.execPath))

// npm puts the project's own Node first in the path.
const INSTALLED = process.env.PATH?.split(delimiter)
  .filter((directory) => !directory.includes('node_modules'))
  .map((directory) => join(directory, 'node'))
  .find((path) => existsSync(path))

test.skipIf(!INSTALLED)('works on the Node of this machine', () => use(INSTALLED!))

for (const runtime of RUNTIMES) {
  test.skipIf(MISSING.includes(runtime) && !process.env.CI)(`works on ${runtime.name}`, () => use(programOf(runtime), runtime.args))
}

test('is compiled JavaScript with types, and a single file without imports for pages', () => {
  const installed = at('node_modules/@mintmark/client')
  const { exports, engines } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as {
    exports: Record<string, Record<string, string>>
    engines: object
  }
  for (const path of Object.values(exports).flatMap((conditions) => Object.values(conditions))) {
    expect([path, existsSync(join(installed, path))]).toEqual([path, true])
  }
  expect(engines).toEqual({ node: '>=18' })
  const single = readFileSync(join(installed, 'dist/browser.js'), 'utf8')
  expect(single).not.toMatch(/\bimport\s*(?:[{*"']|\w+\s+from)|\bfrom\s*["']/)
  expect(single.length).toBeLessThan(16_000)
})

const CONSUMER = `
import { type Item, type Listing, type ListingWriteResult, Mintmark, MintmarkError, verifyWebhook } from '@mintmark/client'

const client = new Mintmark({ apiKey: 'key', baseUrl: 'http://127.0.0.1:8080' })

export async function use(): Promise<string> {
  const { data, pagination } = await client.get('/api/v1/items/search', { params: { query: { q: 'charizard', market: 'source_a' } } })
  const items: Item[] = data
  for await (const listing of client.all('/api/v1/plus/listings', { params: { query: { 'game[]': ['pokemon'], sort_by: 'latest' } } })) {
    const found: Listing = listing
    const { data: written } = await client.patch('/api/v1/plus/listings/{id}/price', { params: { path: { id: found.id } }, body: { price: 12.5 } })
    const result: ListingWriteResult = written
    if (result.status === 'active') break
  }
  // @ts-expect-error the path does not exist
  await client.get('/api/v1/nothing')
  // @ts-expect-error not a market
  await client.get('/api/v1/items', { params: { query: { market: 'elsewhere' } } })
  // @ts-expect-error the parameter does not exist
  await client.get('/api/v1/items', { params: { query: { markets: 'source_a' } } })
  // @ts-expect-error it has no pages
  for await (const each of client.all('/api/v1/plus/collections')) return String(each)
  // @ts-expect-error the query is required
  await client.get('/api/v1/items/search')
  // @ts-expect-error the body is required
  await client.patch('/api/v1/plus/listings/{id}/price', { params: { path: { id: 1 } } })
  // @ts-expect-error it takes no body
  await client.post('/api/v1/plus/make-highlight', { params: { query: { id: 1 } }, body: {} })
  // @ts-expect-error a name is text
  const wrong: number = items[0]!.name
  const event = await verifyWebhook(new Uint8Array(), new Headers(), 'secret')
  if (event?.event === 'sale') return String(event.data.order_id + pagination.total + wrong)
  return new MintmarkError(new Response(), null).code
}
`

const COMPILERS = [
  { name: 'TypeScript 7', compiler: 'node_modules/typescript/lib/tsc.js' },
  { name: 'TypeScript 5', compiler: 'client/node_modules/typescript/lib/tsc.js' },
]
const MODES = [
  ['esnext', 'bundler'],
  ['nodenext', 'nodenext'],
] as const

for (const { name, compiler } of COMPILERS) {
  test.each(MODES)(`type-checks with ${name}, module %s resolved as %s`, async (module, moduleResolution) => {
    writeFileSync(at('consumer.ts'), CONSUMER)
    const compilerOptions = {
      module,
      moduleResolution,
      target: 'es2022',
      lib: ['es2022', 'dom'],
      types: [],
      strict: true,
      noEmit: true,
      skipLibCheck: false,
    }
    writeFileSync(at('tsconfig.json'), JSON.stringify({ compilerOptions, files: ['consumer.ts'] }))
    const outcome = await run(process.execPath, [join(ROOT, compiler), '-p', project.directory]).catch((error: { stdout: string }) => error)
    expect(outcome.stdout).toBe('')
  })
}
