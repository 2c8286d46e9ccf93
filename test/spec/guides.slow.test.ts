// The guides as served: every link and anchor has a target, code runs as shown, and search and copy work in a browser.
import { spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startNode } from '#node/start.ts'
import { launch, NO_BROWSER, WHY } from '../console/browser.ts'
import { seriousOf } from '../support/axe.ts'
import { importFiles, silent, startTestNode, type TestNode } from '../support/node.ts'

const GUIDES = [
  'start',
  'catalogue-sources',
  'first-hour',
  'api-guide',
  'graphql',
  'webhooks',
  'selling',
  'prices',
  'listing-states',
  'mcp',
  'client',
  'examples',
  'changelog',
]

let node: TestNode
let shown: Awaited<ReturnType<typeof startNode>>
let directory: string

beforeAll(async () => {
  node = await startTestNode({ worker: true })
  await importFiles(node, 'mintmark-ndjson', [{ name: 'pokemon', text: readFileSync('sample/pokemon.ndjson') }])
  const listeners = { public: true, operator: false }
  shown = await startNode({ config: node.config, db: node.db, log: silent, listeners, worker: false, demoKey: node.keys.professional })
  directory = mkdtempSync(join(tmpdir(), 'guide-code-'))
})

afterAll(async () => {
  await shown.close()
  await node.close()
  rmSync(directory, { recursive: true })
})

async function read(path: string, url = node.publicUrl): Promise<{ status: number; type: string | null; policy: string | null; text: string }> {
  const response = await fetch(url + path, { headers: { accept: 'text/html' } })
  const { status, headers } = response
  return { status, type: headers.get('content-type'), policy: headers.get('content-security-policy'), text: await response.text() }
}
const page = async (name: string, url = node.publicUrl) => (await read(`/docs/guides/${name}`, url)).text
const hrefsOf = (html: string) => [...html.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, href]) => href!.replaceAll('&amp;', '&'))
const unescaped = (html: string) => html.replaceAll('&quot;', '"').replaceAll('&gt;', '>').replaceAll('&lt;', '<').replaceAll('&amp;', '&')

test.each(GUIDES)('%s is served as a page and as Markdown, and its links work', async (name) => {
  const { status, type, policy, text } = await read(`/docs/guides/${name}`)
  expect([status, type]).toEqual([200, 'text/html; charset=utf-8'])
  expect(policy).toContain("default-src 'none'")
  expect(text).not.toMatch(/<script(?! src)|<style|\sstyle="|\son\w+="/)
  expect([...text.matchAll(/<h1/g)].length).toBeGreaterThan(0)
  expect(text).not.toContain('http://127.0.0.1:8080')
  expect(text).not.toContain(node.keys.professional)
  for (const href of new Set(hrefsOf(text))) {
    if (/^https?:/.test(href)) continue
    const [path = '', hash] = href.split('#')
    const target = path === '' ? { status, text } : await read(path)
    expect([href, target.status]).toEqual([href, 200])
    if (hash !== undefined) expect([href, target.text.includes(`id="${hash}"`)]).toEqual([href, true])
  }
  const raw = await read(`/docs/guides/${name}.md`)
  expect([raw.status, raw.type]).toEqual([200, 'text/markdown; charset=utf-8'])
  if (!['client', 'examples', 'changelog'].includes(name)) expect(raw.text).toBe(readFileSync(`docs/${name}.md`, 'utf8'))
})

test('no other file is served', async () => {
  const others = [
    'nothing',
    'nothing.md',
    'operating.md',
    '../../package.json',
    'files/package.json',
    'files/..%2f..%2fpackage.json',
    'assets/guides.ts',
    'assets/constructor',
    'files/src/config.ts',
  ]
  for (const path of others) expect([path, (await read(`/docs/guides/${path}`)).status]).toEqual([path, 404])
  expect((await read('/docs/guides')).status).toBe(200)
})

test("the demo's key is filled in for readers on this machine", async () => {
  const html = await page('api-guide', shown.publicUrl)
  expect(html).toContain(`KEY=${node.keys.professional}`)
  expect(html).toContain(`Bearer ${node.keys.professional}`)
  expect(html).not.toContain('YOUR_API_KEY')
  expect(html).toContain(`${shown.publicUrl}/api/v1/items/search`)
  const proxied = await fetch(`${shown.publicUrl}/docs/guides/api-guide`, { headers: { 'x-forwarded-for': '198.51.100.7' } })
  expect(await proxied.text()).not.toContain(node.keys.professional)
})

describe('code of the API guide', () => {
  const PROGRAMS: Record<string, [file: string, program: string]> = {
    curl: ['request.sh', 'sh'],
    TypeScript: ['request.ts', process.execPath],
    Python: ['request.py', 'python3'],
  }
  const run = async (language: string, code: string): Promise<string> => {
    const [name, program] = PROGRAMS[language]!
    const file = join(directory, name)
    writeFileSync(file, code)
    const child = spawn(program, [file], { stdio: ['ignore', 'pipe', 'inherit'] })
    let out = ''
    for await (const chunk of child.stdout) out += String(chunk)
    return out
  }

  test("runs in every language of its tabs, as shown on the demo's page", async () => {
    const html = await page('api-guide', shown.publicUrl)
    const groups = [...html.matchAll(/<div class="tabs">(.*?)<\/div>/gs)].map(([, group]) =>
      [...group!.matchAll(/<figcaption>(.*?)<\/figcaption>.*?<code>(.*?)<\/code>/gs)].map(([, language, code]) => ({
        language: language!,
        code: unescaped(code!),
      })),
    )
    const body = '{"event":"sale"}'
    const signature = createHmac('sha256', 'secret').update(body).digest('hex')
    const expected = [/Charizard/, /Charizard/, /found/, /item/, /^true false\s*$/i]
    expect(groups.length).toBe(expected.length)
    for (const [i, group] of groups.entries()) {
      expect(group.length).toBeGreaterThan(1)
      const output = expected[i]!
      for (const { language, code } of group) {
        const verified =
          language === 'Python'
            ? `\nprint(is_genuine(b'${body}', '${signature}', 'secret'), is_genuine(b'{}', '${signature}', 'secret'))`
            : `\nconsole.log(isGenuine(Buffer.from('${body}'), '${signature}', 'secret'), isGenuine(Buffer.from('{}'), '${signature}', 'secret'))`
        const out = await run(language, i === expected.length - 1 ? code + verified : code)
        expect([i, language, out]).toEqual([i, language, expect.stringMatching(output)])
      }
    }
  })
})

test('/llms.txt lists every endpoint, and its links point to documents', async () => {
  const { status, type, text } = await read('/llms.txt')
  expect([status, type]).toEqual([200, 'text/plain; charset=utf-8'])
  const { paths } = JSON.parse((await read('/openapi.json')).text) as { paths: Record<string, Record<string, { summary: string }>> }
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, { summary }] of Object.entries(methods)) expect(text).toContain(`- \`${method.toUpperCase()} ${path}\`: ${summary}`)
  }
  const links = [...text.matchAll(/\]\((\S+)\)/g)].map(([, link]) => link!)
  expect(links.length).toBe(GUIDES.length + 1)
  for (const link of links) expect([link, (await fetch(link)).status]).toEqual([link, 200])
})

describe.skipIf(NO_BROWSER)(`In a browser${WHY}`, () => {
  let browser: Browser

  beforeAll(async () => {
    browser = await launch()
  })

  test('tabs, copying and search work, wide and narrow, without external requests', async () => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, permissions: ['clipboard-read', 'clipboard-write'] })
    const page = await context.newPage()
    page.setDefaultTimeout(120_000)
    const troubles: string[] = []
    page.on('pageerror', (error) => troubles.push(error.message))
    page.on('console', (message) => {
      if (/Content Security Policy|Uncaught/.test(message.text())) troubles.push(message.text())
    })
    page.on('request', (request) => {
      if (new URL(request.url()).origin !== node.publicUrl) troubles.push(`a request to ${request.url()}`)
    })
    await page.goto(`${node.publicUrl}/docs/guides/api-guide`)
    expect(await seriousOf(page)).toEqual([])
    await page.getByRole('tab', { name: 'Python' }).first().click()
    const panel = page.getByRole('tabpanel', { name: 'Python' }).first()
    await expect.poll(() => panel.isVisible()).toBe(true)
    await expect.poll(() => page.getByRole('tabpanel', { name: 'curl' }).count()).toBe(0)
    await panel.getByRole('button', { name: 'Copy' }).click()
    await panel.getByRole('button', { name: 'Copied' }).waitFor()
    await expect.poll(() => page.evaluate<string>('navigator.clipboard.readText()')).toContain('import json, urllib.request')
    await page.getByLabel('Search the documentation').fill('stale cursor feed')
    await page.getByLabel('Search the documentation').fill('field queries')
    await page.getByRole('link', { name: 'Field queries' }).first().click()
    await page.waitForURL(/#field-queries/)
    await page.getByRole('heading', { name: 'Field queries' }).waitFor()
    for (const name of ['webhooks', 'prices', 'examples']) {
      await page.setViewportSize({ width: 390, height: 800 })
      await page.goto(`${node.publicUrl}/docs/guides/${name}`)
      expect([name, await page.evaluate<number>('document.documentElement.scrollWidth')]).toEqual([name, 390])
      expect([name, await seriousOf(page)]).toEqual([name, []])
    }
    expect(troubles).toEqual([])
    await context.close()
  })
})
