// GraphiQL in a browser: it loads only from our own server, accepts a key, shows the schema and runs an example.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { request } from 'node:http'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { EXAMPLES } from '../../graphiql/examples.ts'
import { type RunningNode, startNode } from '#node/start.ts'
import { launch, NO_BROWSER, WHY } from '../console/browser.ts'
import { silent, type TestNode, until } from '../support/node.ts'
import { ask } from './client.ts'
import { startSampleNode } from '../support/sample-node.ts'

const BUILT = fileURLToPath(new URL('../../dist/graphiql/index.html', import.meta.url))

let node: TestNode
/** another node on the same database, which shows a key like the demo does */
let demo: RunningNode

beforeAll(async () => {
  if (!existsSync(BUILT)) execFileSync(process.execPath, [fileURLToPath(new URL('../../graphiql/build.ts', import.meta.url))])
  node = await startSampleNode({ listeners: 'public' })
  const listeners = { public: true, operator: false }
  demo = await startNode({ config: node.config, db: node.db, log: silent, listeners, worker: false, demoKey: node.keys.professional })
})

afterAll(async () => {
  await demo.close()
  await node.close()
})

test('the page and its files need no key, and load nothing from other hosts', async () => {
  const html = { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } }
  for (const path of ['/graphql', '/graphql/v3']) {
    const response = await fetch(node.publicUrl + path, html)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(response.headers.get('content-security-policy')).toContain("default-src 'self'")
    expect(response.headers.get('x-request-id')).toBeTruthy()
    const page = await response.text()
    const files = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1]!)
    expect(files.length).toBeGreaterThan(2)
    for (const file of files) {
      expect(file).toMatch(/^\/graphql\/assets\//)
      const asset = await fetch(node.publicUrl + file)
      expect(asset.status).toBe(200)
      expect(asset.headers.get('cache-control')).toContain('immutable')
      await asset.body?.cancel()
    }
  }
  const outside = await fetch(`${node.publicUrl}/graphql/assets/..%2f..%2f..%2fpackage.json`)
  expect(outside.status).toBeGreaterThanOrEqual(400)
})

test('the page contains the demo key on this machine only', async () => {
  const key = node.keys.professional
  const html = (url: string, headers: Record<string, string> = {}) => {
    const { hostname, port, pathname } = new URL(url)
    return new Promise<string>((resolve, reject) => {
      const sent = request({ hostname, port, path: pathname, headers: { accept: 'text/html', ...headers } }, (response) => {
        let text = ''
        response.on('data', (chunk) => (text += String(chunk)))
        response.on('end', () => resolve(text))
      })
      sent.on('error', reject).end()
    })
  }
  for (const path of ['/', '/graphql']) {
    expect(await html(demo.publicUrl! + path)).toContain(key)
    expect(await html(node.publicUrl! + path)).not.toContain('mintmark_')
    // A name of another site that resolves to this machine, and a proxy.
    expect(await html(demo.publicUrl! + path, { host: 'rebound.example' })).not.toContain(key)
    expect(await html(demo.publicUrl! + path, { 'x-forwarded-for': '192.0.2.1' })).not.toContain(key)
  }
})

test('every example runs on the smallest plan', async () => {
  for (const { query, variables = '{}' } of EXAMPLES) {
    const reply = await ask(node, query, { plan: 'starter', variables: JSON.parse(variables) as Record<string, unknown> })
    expect([reply.status, reply.errors], query).toEqual([200, undefined])
  }
})

describe.skipIf(NO_BROWSER)(`in Chromium${WHY}`, () => {
  let browser: Browser

  beforeAll(async () => {
    browser = await launch()
  })

  const openPage = async () => {
    const page = await browser.newPage()
    page.setDefaultTimeout(120_000)
    return page
  }

  test('in the demo, the key is filled in: an example runs without typing', async () => {
    const page = await openPage()
    await page.goto(`${demo.publicUrl}/graphql`)
    await runUntilShown(page, 'Charizard')
    await expect.poll(() => page.getByText('Put your API key into Headers').count()).toBe(0)
    await page.close()
  })

  test('an example runs with a key in the header editor', { tags: 'slow' }, async () => {
    const page = await openPage()
    const foreign: string[] = []
    const problems: string[] = []
    page.on('request', (request) => {
      const { protocol, origin } = new URL(request.url())
      if (protocol.startsWith('http') && origin !== node.publicUrl) foreign.push(request.url())
    })
    page.on('pageerror', (error) => problems.push(error.message))
    page.on('console', (message) => {
      if (message.type() === 'error' && message.text().includes('Content Security Policy')) problems.push(message.text())
    })
    await page.goto(`${node.publicUrl}/graphql`)
    await page.getByText('Put your API key into Headers, in place of').waitFor()
    // Without a key no request is sent, so none is rejected.
    await expect.poll(() => page.locator('.result-window').getByText('UNAUTHENTICATED').count()).toBe(0)
    await typeKey(page, node.keys.professional)
    await page.getByText('Put your API key into Headers, in place of').waitFor({ state: 'detached' })
    await runUntilShown(page, 'Charizard')
    await page.getByRole('button', { name: 'Show Documentation Explorer' }).click()
    await page.locator('.graphiql-doc-explorer').getByText('Query').first().waitFor()
    // The key is also sent with the other examples.
    const tabs = page.locator('.graphiql-tab')
    await expect.poll(() => tabs.count()).toBe(EXAMPLES.length)
    await tabs.last().click()
    await runUntilShown(page, 'categories')
    expect(foreign).toEqual([])
    expect(problems).toEqual([])
    await page.close()
  })
})

/** Runs the example of the tab until its result contains the text: the editor needs a moment to detect which operation the tab contains. */
async function runUntilShown(page: Page, text: string): Promise<void> {
  const answer = page.locator('.result-window').getByText(text)
  // While a query runs, the same button stops it and has that label.
  const run = page.getByRole('button', { name: /^Execute query/ })
  await until('the answer is shown', async () => {
    if ((await answer.count()) > 0) return true
    if (await run.isVisible()) await run.click()
    return false
  })
}

/** Replaces the content of the header editor. */
async function typeKey(page: Page, key: string): Promise<void> {
  const editor = page.locator('.graphiql-editor-tool .graphiql-editor:not(.hidden) .monaco-editor').last()
  await editor.click()
  await expect.poll(() => page.evaluate<boolean>("document.activeElement.closest('.graphiql-editor-tool .monaco-editor') !== null")).toBe(true)
  await page.keyboard.press('Control+A')
  await page.keyboard.insertText(JSON.stringify({ Authorization: `Bearer ${key}` }))
  // The editor inserts closing quotes and brackets after the text.
  await page.keyboard.press('Control+Shift+End')
  await page.keyboard.press('Delete')
}
