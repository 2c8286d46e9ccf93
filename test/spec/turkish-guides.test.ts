// Guides in Turkish: the same sections, commands, fields, pictures and tables as in English, served by `?lang=tr`.
import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestNode, type TestNode } from '../support/node.ts'

const GUIDES = readdirSync('docs/tr')
const read = (name: string, turkish: boolean) => readFileSync(turkish ? `docs/tr/${name}` : `docs/${name}`, 'utf8')
const all = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map((match) => match[1]!)
const withoutBlocks = (text: string) => text.replaceAll(/^```[\s\S]*?^```$/gm, '')

describe.each(GUIDES)('%s', (name) => {
  const [english, turkish] = [read(name, false), read(name, true)]
  const same = (what: (text: string) => unknown) => expect(what(turkish)).toEqual(what(english))

  test('sections', () => same((text) => all(withoutBlocks(text), /^(#+) /gm)))
  test('commands and other blocks', () => same((text) => all(text, /^(```[\s\S]*?^```)$/gm)))
  test('fields, parameters and settings', () => same((text) => all(withoutBlocks(text).replaceAll(/\s+/g, ' '), /`([^`]+)`/g).toSorted()))
  test('tables', () => same((text) => all(withoutBlocks(text), /^(\|)/gm).length))
  test('steps and lists', () => same((text) => all(withoutBlocks(text), /^(\d+\.|-) /gm)))
  test('pictures', () => same((text) => all(text, /!\[[^\]]*\]\((?:\.\.\/)?([^)]+)\)/g)))
  test('numbers of steps, limits and examples', () => {
    const numbers = (text: string) => all(withoutBlocks(text).replaceAll(/\]\([^)]*\)/g, ''), /(?<![\w.,/])(\d{2,})(?![\w/])/g).toSorted()
    // Written as 10.000 and 0,1 in Turkish.
    same((text) => numbers(text.replaceAll(/(\d)[.,](\d)/g, '$1$2')))
  })
})

describe('served', () => {
  let node: TestNode
  beforeAll(async () => {
    node = await startTestNode()
  })
  afterAll(() => node.close())
  test("the operator's guide is on the operator's listener, and links between Turkish guides lead to sections that exist", async () => {
    const pageOf = async (name: string) => (await fetch(`${node.operatorUrl}/docs/guides/${name}?lang=tr`)).text()
    const pages = new Map(await Promise.all(GUIDES.map(async (file) => [file.slice(0, -3), await pageOf(file.slice(0, -3))] as const)))
    expect(pages.get('operating')).toContain('<h1 id="operatör-kılavuzu">')
    const missing: string[] = []
    for (const [name, text] of pages) {
      const article = text.slice(text.indexOf('<article'))
      for (const [, guide, hash] of article.matchAll(/href="(?:\/docs\/guides\/([a-z-]+)\?lang=tr)?#([^"]+)"/g)) {
        if (!pages.get(guide ?? name)?.includes(`id="${decodeURIComponent(hash!)}"`)) missing.push(`${name}: ${guide ?? ''}#${hash}`)
      }
    }
    expect(missing).toEqual([])
  })

  const get = async (path: string) => {
    const response = await fetch(`${node.publicUrl}/docs/guides${path}`, { redirect: 'manual' })
    return { status: response.status, location: response.headers.get('location'), text: await response.text() }
  }

  test('pages, their Markdown, and the links between them', async () => {
    expect(await get('?lang=tr')).toMatchObject({ status: 302, location: '/docs/guides/start?lang=tr' })
    const { text } = await get('/start?lang=tr')
    expect(text).toContain('<article lang="tr">')
    expect(text).toContain('<h1 id="on-dakikada-başlangıç">')
    expect(text).toContain('href="/docs/guides/first-hour?lang=tr"')
    expect(text).toContain('href="/docs/guides/api-guide"')
    expect(text).toMatch(/<a href="\/docs\/guides\/start">English<\/a>/)
    expect((await get('/selling?lang=tr')).text).toContain('href="#takipler"')
    expect((await get('/selling.md?lang=tr')).text).toBe(read('selling.md', true))
    for (const [path] of text.matchAll(/\/docs\/guides\/[^"#]+(?=["#])/g))
      expect([path, (await fetch(node.publicUrl + path)).status]).toEqual([path, 200])
  })

  test.each(['/graphql?lang=tr', '/start?lang=de', '/start?lang=tr&lang=tr', '/start'])('%s is in English', async (path) => {
    const { status, text } = await get(path)
    expect([status, text.includes('<article lang="en">')]).toEqual([200, true])
  })

  test('the English page of a translated guide links to it', async () => {
    expect((await get('/start')).text).toContain('<a href="/docs/guides/start?lang=tr">Türkçe</a>')
    expect((await get('/graphql')).text).not.toContain('Türkçe')
  })
})
