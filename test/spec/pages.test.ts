// The developer page and the changelog: public, without scripts or external requests, with example requests that work.
import { spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startNode } from '#node/start.ts'
import { importFiles, silent, startTestNode, type TestNode } from '../support/node.ts'

let node: TestNode
let shown: Awaited<ReturnType<typeof startNode>>

beforeAll(async () => {
  node = await startTestNode({ listeners: 'public' })
  await importFiles(node, 'mintmark-ndjson', [{ name: 'pokemon', text: readFileSync('sample/pokemon.ndjson') }])
  const listeners = { public: true, operator: false }
  shown = await startNode({ config: node.config, db: node.db, log: silent, listeners, worker: false, demoKey: node.keys.professional })
})

afterAll(async () => {
  await shown.close()
  await node.close()
})

const read = async (url: string) => {
  const response = await fetch(url)
  return { response, html: await response.text() }
}

test('describes the service, without scripts or other hosts', async () => {
  const { response, html } = await read(`${node.publicUrl}/`)
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(html).not.toMatch(/<script|<link|src=/)
  const outside = [...html.matchAll(/https?:\/\/[^/'"\s]+/g)].map(([origin]) => origin).filter((origin) => origin !== node.publicUrl)
  expect(outside).toEqual([])
  expect(html).not.toContain('mintmark_')
  for (const [, path] of html.matchAll(/href="([^"]+)"/g)) {
    expect((await fetch(`${node.publicUrl}${path}`, { headers: { accept: 'text/html' } })).status, path).toBe(200)
  }
})

/** How to run the page's pasted examples, by their titles. */
const RUN_BY: Record<string, string[]> = {
  curl: ['sh', '-c'],
  TypeScript: [process.execPath, '--input-type=module', '-e'],
  Python: ['python3', '-c'],
  GraphQL: ['sh', '-c'],
}

test('in the demo, its key is filled in, and the examples work when pasted', async () => {
  const { html } = await read(`${shown.publicUrl}/`)
  const examples = [...html.matchAll(/<figcaption>(\w+)<\/figcaption><pre><code>(.*?)<\/code>/gs)]
  expect(examples.map(([, title]) => title)).toEqual(Object.keys(RUN_BY))
  for (const [, title, block] of examples) {
    const text = block!.replaceAll('&quot;', '"').replaceAll('&gt;', '>').replaceAll('&lt;', '<').replaceAll('&amp;', '&')
    expect(text).toContain(node.keys.professional)
    const [program = '', ...args] = RUN_BY[title!]!
    if (spawnSync(program === 'sh' ? 'curl' : program, ['--version']).status !== 0) continue
    // Not spawnSync, which would block the server in this process.
    const child = spawn(program, [...args, text], { stdio: ['ignore', 'pipe', 'ignore'] })
    let out = ''
    for await (const chunk of child.stdout) out += String(chunk)
    expect([title, out]).toEqual([title, expect.stringContaining('Charizard')])
  }
})

test('a host header cannot inject markup or another host into the page', async () => {
  const { hostname, port } = new URL(node.publicUrl!)
  const { request } = await import('node:http')
  const html = await new Promise<string>((resolve, reject) => {
    const sent = request({ hostname, port, path: '/', headers: { host: '"><script>' } }, (response) => {
      let text = ''
      response.on('data', (chunk) => {
        text += String(chunk)
      })
      response.on('end', () => resolve(text))
    })
    sent.on('error', reject)
    sent.end()
  })
  expect(html).not.toContain('<script>')
})

test("the changelog equals the repository's", async () => {
  const { response, html } = await read(`${node.publicUrl}/changelog`)
  expect(response.headers.get('content-type')).toBe('text/markdown; charset=utf-8')
  expect(html).toBe(readFileSync('CHANGELOG.md', 'utf8'))
})
