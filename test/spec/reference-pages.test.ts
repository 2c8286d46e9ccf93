// The reference pages of both listeners: complete, small, with the demo's key only where it may be shown.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startNode } from '#node/start.ts'
import { RULES } from '#core/problem-texts/rules.ts'
import { silent, startTestNode, type TestNode } from '../support/node.ts'

const MAX_BYTES = 300_000

interface Listener {
  name: string
  url: () => string
  document: string
  credential: string
}
interface Operation {
  operationId: string
  description: string
  tags: [string]
}

let node: TestNode
const listeners: Listener[] = [
  { name: 'public', url: () => node.publicUrl!, document: '/openapi.json', credential: 'YOUR_API_KEY' },
  { name: 'operator', url: () => node.operatorUrl!, document: '/operator/openapi.json', credential: 'YOUR_OPERATOR_TOKEN' },
]

beforeAll(async () => {
  node = await startTestNode()
})

afterAll(() => node.close())

const read = async (url: string) => {
  const response = await fetch(url, { headers: { accept: 'text/html,*/*' } })
  return { status: response.status, headers: response.headers, text: await response.text() }
}
const plain = (html: string) =>
  html
    .replaceAll(/<[^>]+>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')

async function pagesOf({ url }: Listener): Promise<Map<string, string>> {
  const overview = await read(`${url()}/docs`)
  expect([overview.status, overview.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  const paths = new Set([...overview.text.matchAll(/href="(\/docs\/reference\/[^"#]+)/g)].map((match) => match[1]!))
  const pages = new Map([['/docs', overview.text]])
  for (const path of paths) {
    const { status, text } = await read(url() + path)
    expect([path, status]).toEqual([path, 200])
    pages.set(path, text)
  }
  return pages
}

/** Code blocks of an operation by caption. */
function samples(html: string): Record<string, string> {
  const tabs = /<div class="tabs">([\s\S]*?)<\/div>/.exec(html)![1]!
  const figures = [...tabs.matchAll(/<figcaption>([^<]+)<\/figcaption><pre tabindex="0"><code>([\s\S]*?)<\/code>/g)]
  return Object.fromEntries(figures.map(([, caption, text]) => [caption!, plain(text!)]))
}

/** The query of a curl request; 1 also means true. */
function queryOf(text: string): string[] {
  const [, address = ''] = /curl (?:-\w+ (?:[A-Z]+ )?)?'([^']+)'/.exec(text) ?? []
  return Array.from(new URL(address).searchParams, ([name, value]) => `${name}=${value === 'true' ? '1' : value}`).sort()
}

describe.each(listeners)('of the $name API', (listener) => {
  let pages: Map<string, string>
  const operations = new Map<string, { method: string; path: string; html: string; description: string }>()

  beforeAll(async () => {
    pages = await pagesOf(listener)
    const { paths } = JSON.parse((await read(listener.url() + listener.document)).text) as { paths: Record<string, Record<string, Operation>> }
    for (const [path, methods] of Object.entries(paths)) {
      for (const [method, { operationId, description }] of Object.entries(methods)) {
        const containing = [...pages.values()].flatMap((html) => html.split('<section ').filter((part) => part.startsWith(`id="${operationId}"`)))
        expect([operationId, containing.length]).toEqual([operationId, 1])
        operations.set(operationId, { method, path, html: containing[0]!, description })
      }
    }
  })

  test('show every operation once, and are small', () => {
    expect(operations.size).toBeGreaterThan(60)
    for (const [path, html] of pages) expect([path, Buffer.byteLength(html) < MAX_BYTES]).toEqual([path, true])
  })

  test('list every rule, and link only what exists', async () => {
    const rules = plain(pages.get('/docs/reference/rules')!)
    expect(Object.entries(RULES).filter(([rule, text]) => !rules.includes(rule) || !rules.includes(text))).toEqual([])
    const broken: string[] = []
    const anchors = new Map(Array.from(pages, ([path, html]) => [path, anchorsOf(html)]))
    for (const [path, html] of pages) {
      for (const target of new Set(Array.from(html.matchAll(/href="([^"]+)"/g), ([, href]) => href!))) {
        const [page = '', anchor] = target.split('#')
        if (/^https?:/.test(page)) continue
        if (page !== '' && !anchors.has(page)) {
          const { status, text } = await read(listener.url() + page)
          if (status === 200) anchors.set(page, anchorsOf(text))
          else broken.push(`${path}: ${target} is ${status}`)
        }
        if (anchor !== undefined && !anchors.get(page || path)?.has(anchor)) broken.push(`${path}: ${target}`)
      }
    }
    expect(broken).toEqual([])
  })

  test('have three samples for each operation: of its method and path, with a placeholder for the credential that it needs', () => {
    for (const [name, { method, path, html }] of operations) {
      const { curl, TypeScript, Python } = samples(html)
      expect([name, curl?.startsWith('curl '), TypeScript !== undefined, Python?.startsWith('import requests')]).toEqual([name, true, true, true])
      const start = path.split('{')[0]!
      for (const text of [curl, TypeScript, Python]) expect([name, text!.includes(start)]).toEqual([name, true])
      // The client is always created with a key.
      const isOpen = (text: string) => path === '/api/v1/shared/{token}' && text !== TypeScript
      for (const text of [curl!, TypeScript!, Python!]) {
        expect([name, text.includes(listener.credential), text.includes(listener.url())]).toEqual([name, !isOpen(text), true])
        expect([name, /undefined|\[object|NaN/.test(text)]).toEqual([name, false])
      }
      expect([name, Python!.includes(`requests.${method}(`)]).toEqual([name, true])
    }
  })

  test('send the parameters of a request that a demo has answered', () => {
    for (const [name, { html, description }] of operations) {
      const { curl, Python } = samples(html)
      expect([name, queryOf(curl!)]).toEqual([name, queryOf(description)])
      // requests would send `True`, which is not a value of any parameter.
      const [, params = ''] = /params=(\{[^}]*\})/.exec(Python!) ?? []
      expect([name, params]).toEqual([name, expect.not.stringMatching(/: (?:True|False|None)/)])
    }
  })

  test('have Python samples that parse', { tags: 'slow' }, ({ skip }) => {
    skip(spawnSync('python3', ['--version']).status !== 0, 'Python is not installed')
    const codes = JSON.stringify([...operations.values()].map(({ html }) => samples(html).Python))
    const program = 'import ast, json, sys\nfor code in json.load(sys.stdin): ast.parse(code)'
    expect(spawnSync('python3', ['-c', program], { input: codes, encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' })
  })

  test('are compressed, with an entity tag', async () => {
    for (const path of ['/docs', '/docs/reference/catalogue', '/docs/guides/changelog']) {
      const { headers } = await fetch(listener.url() + path, { headers: { 'accept-encoding': 'gzip, br' } })
      expect([path, headers.get('content-encoding'), headers.get('cache-control')]).toEqual([path, 'br', 'no-cache'])
      const again = await fetch(listener.url() + path, { headers: { 'if-none-match': headers.get('etag')! } })
      expect([path, again.status]).toEqual([path, 304])
    }
  })

  test('have TypeScript samples that compile', { tags: 'slow' }, () => {
    const directory = mkdtempSync(join(tmpdir(), 'mintmark-samples-'))
    for (const [name, { html }] of operations) writeFileSync(join(directory, `${name}.mts`), samples(html).TypeScript!)
    const compilerOptions = {
      noEmit: true,
      strict: true,
      skipLibCheck: true,
      target: 'esnext',
      module: 'nodenext',
      allowImportingTsExtensions: true,
      paths: { '@mintmark/client': [join(process.cwd(), 'client/src/index.ts')] },
      types: ['node'],
      typeRoots: [join(process.cwd(), 'node_modules/@types')],
    }
    writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.mts'] }))
    const { stdout, status } = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', directory], { encoding: 'utf8' })
    rmSync(directory, { recursive: true })
    expect([stdout, status]).toEqual(['', 0])
  })

  test('are not found under other names', async () => {
    for (const name of ['nothing', '..%2f..', 'constructor', '__proto__']) {
      expect([name, (await read(`${listener.url()}/docs/reference/${name}`)).status]).toEqual([name, 404])
    }
    expect((await fetch(`${listener.url()}/docs`, { method: 'HEAD' })).status).toBe(200)
    expect((await fetch(`${listener.url()}/docs`, { method: 'POST' })).status).toBe(405)
  })
})

test('samples of the public API work as shown, read as the shell reads them', async () => {
  const { curl } = samples((await read(`${node.publicUrl}/docs/reference/catalogue`)).text.split('id="listItems"')[1]!)
  const [, address] = /'(http[^']+)'/.exec(curl!)!
  expect((await fetch(address!, { headers: { authorization: `Bearer ${node.keys.plus}` } })).status).toBe(200)
})

test("the demo's key is in the samples for its own machine only, and never cached", async () => {
  const config = node.config
  const demo = await startNode({
    config,
    db: node.db,
    log: silent,
    listeners: { public: true, operator: true },
    worker: false,
    demoKey: node.keys.plus,
  })
  const own = await fetch(`${demo.publicUrl}/docs/reference/catalogue`)
  expect([(await own.text()).includes(node.keys.plus), own.headers.get('cache-control')]).toEqual([true, 'no-store'])
  const proxied = await fetch(`${demo.publicUrl}/docs/reference/catalogue`, { headers: { 'x-forwarded-for': '198.51.100.7' } })
  expect([(await proxied.text()).includes(node.keys.plus), proxied.headers.get('cache-control')]).toEqual([false, 'no-store'])
  expect((await read(`${demo.publicUrl}/openapi.json`)).text).not.toContain(node.keys.plus)
  expect((await read(`${demo.operatorUrl}/docs`)).text).not.toContain(node.keys.plus)
  await demo.close()
})

/** What links to a page can end with. */
function anchorsOf(html: string): Set<string> {
  return new Set(Array.from(html.matchAll(/\bid="([^"]+)"/g), ([, id]) => id!))
}
