// The client as its users get it: packed, installed in an empty project, loaded by every supported Node and type-checked.
import { execFile } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestNode, type TestNode } from '../support/node.ts'

const run = promisify(execFile)
const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Supported releases of Node beside the project's own; CI installs those that are missing, elsewhere they are skipped. */
const RELEASES = ['18.20.8', '20.20.2', '22.23.3', '24.21.0']
const PACKAGE = `node-${process.platform}-${process.arch}`
const NODES = join(ROOT, 'node_modules/.cache/mintmark-nodes')
const binaryOf = (release: string) => join(NODES, 'node_modules', nameOf(release), 'bin/node')
const nameOf = (release: string) => `node-${release}`
const MISSING = RELEASES.filter((release) => !existsSync(binaryOf(release)))

let node: TestNode
let project: string

beforeAll(async () => {
  const installed = process.env.CI && MISSING.length > 0 ? installReleases() : null
  node = await startTestNode()
  project = mkdtempSync(join(tmpdir(), 'mintmark-client-'))
  await run('npm', ['pack', '--silent', '-w', 'client', '--pack-destination', project], { cwd: ROOT })
  const packed = readdirSync(project).find((file) => file.endsWith('.tgz'))!
  writeFileSync(join(project, 'package.json'), '{"private": true, "type": "module"}')
  await run('npm', ['install', '--silent', '--offline', '--no-audit', '--no-fund', `./${packed}`], { cwd: project })
  await installed
}, 120_000)

/** All of them by one npm, which downloads them at the same time. */
async function installReleases(): Promise<void> {
  mkdirSync(NODES, { recursive: true })
  writeFileSync(join(NODES, 'package.json'), '{"private": true}')
  await run('npm', ['install', '--silent', '--no-audit', '--no-fund', ...RELEASES.map((release) => `${nameOf(release)}@npm:${PACKAGE}@${release}`)], {
    cwd: NODES,
  })
}

afterAll(async () => {
  await node.close()
  rmSync(project, { recursive: true, force: true })
})

const PROGRAM = `
import { Mintmark, MintmarkError, verifyWebhook } from '@mintmark/client'
const [baseUrl, apiKey, body, signature] = process.argv.slice(2)
const client = new Mintmark({ baseUrl, apiKey })
const { pagination } = await client.get('/api/v1/items', { query: { per_page: 1 } })
const error = await client.post('/api/v1/plus/make-highlight', { query: { id: 999999 } }).catch((reason) => reason)
const event = await verifyWebhook(body, signature, 'secret')
const forged = await verifyWebhook(body + ' ', signature, 'secret')
console.log(JSON.stringify([pagination.per_page, error instanceof MintmarkError, error.code, event?.event, forged]))
`

async function use(binary: string): Promise<void> {
  writeFileSync(join(project, 'program.js'), PROGRAM)
  const body = '{"event":"expire","sent_at":"2026-12-21T11:41:00+03:00","data":{}}'
  const signature = createHmac('sha256', 'secret').update(body).digest('hex')
  const { stdout } = await run(binary, ['program.js', node.publicUrl!, node.keys.plus, body, signature], { cwd: project })
  expect(JSON.parse(stdout)).toEqual([1, true, 'PLUS_LISTING_ERROR', 'expire', null])
}

test("works on the project's Node", () => use(process.execPath))

// npm puts the project's own first on the path.
const INSTALLED = process.env.PATH?.split(delimiter)
  .filter((directory) => !directory.includes('node_modules'))
  .map((directory) => join(directory, 'node'))
  .find((path) => existsSync(path))

test.skipIf(!INSTALLED)('works on the Node of this machine', () => use(INSTALLED!))

for (const release of RELEASES) {
  test.skipIf(MISSING.includes(release) && !process.env.CI)(`works on Node ${release}`, () => use(binaryOf(release)))
}

const CONSUMER = `
import { type Item, type Listing, type ListingWriteResult, Mintmark, MintmarkError, verifyWebhook } from '@mintmark/client'

const client = new Mintmark({ apiKey: 'key', baseUrl: 'http://127.0.0.1:8080' })

export async function use(): Promise<string> {
  const { data, pagination } = await client.get('/api/v1/items/search', { query: { q: 'charizard', market: 'source_a' } })
  const items: Item[] = data
  for await (const listing of client.all('/api/v1/plus/listings', { query: { game: ['pokemon'], sort_by: 'latest' } })) {
    const found: Listing = listing
    const { data: written } = await client.patch('/api/v1/plus/listings/{id}/price', { path: { id: found.id }, body: { price: 12.5 } })
    const result: ListingWriteResult = written
    if (result.status === 'active') break
  }
  // @ts-expect-error the path does not exist
  await client.get('/api/v1/nothing')
  // @ts-expect-error not a market
  await client.get('/api/v1/items', { query: { market: 'elsewhere' } })
  // @ts-expect-error the query is required
  await client.get('/api/v1/items/search')
  // @ts-expect-error the body is required
  await client.patch('/api/v1/plus/listings/{id}/price', { path: { id: 1 } })
  // @ts-expect-error it takes no body
  await client.post('/api/v1/plus/make-highlight', { query: { id: 1 }, body: {} })
  // @ts-expect-error a name is text
  const wrong: number = items[0]!.name
  const event = await verifyWebhook(new Uint8Array(), null, 'secret')
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
  test.each(MODES)(`type-checks with ${name}, module %s resolved as %s`, { timeout: 120_000 }, async (module, moduleResolution) => {
    writeFileSync(join(project, 'consumer.ts'), CONSUMER)
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
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['consumer.ts'] }))
    const outcome = await run(process.execPath, [join(ROOT, compiler), '-p', project]).catch((error: { stdout: string }) => error)
    expect(outcome.stdout).toBe('')
  })
}
