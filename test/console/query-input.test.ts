// The field query of the console's item list: the options offered while typing, and entry by keyboard alone in a real browser.
import type { Browser, BrowserContextOptions } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startSampleNode } from '../support/sample-node.ts'
import { seriousOf } from '../support/axe.ts'
import { OPERATOR_TOKEN, send, type TestNode, until } from '../support/node.ts'
import { launch, NO_BROWSER, operator, settled, signedIn, WHY } from './browser.ts'

let node: TestNode

beforeAll(async () => {
  node = await startSampleNode({ listeners: 'operator' })
})

afterAll(() => node.close())

interface Completions {
  from: number
  options: string[]
}

function complete(text: string): Promise<Completions> {
  return operator<Completions>(node, 'GET', `/query-completions?text=${encodeURIComponent(text)}`)
}

describe('completions', () => {
  test.each<[text: string, from: number, options: string[]]>([
    ['ra', 0, ['rarity:', 'rarity<=', 'rarity>=']],
    ['-hp', 1, ['hp:', 'hp<=', 'hp>=']],
    ['charizard (no', 11, ['number:', 'number<=', 'number>=']],
    ['genre:', 0, ['genre:bundle', 'genre:card', 'genre:sealed', 'genre:single']],
    ['g:poke', 0, ['game:pokemon']],
    ['r>="rare h', 0, ['rarity>="Rare Holo"', 'rarity>="Rare Holo EX"']],
    ['hp>50 set:"base se', 6, ['set:"Base Set"']],
    ['label:psa', 0, ['label:"PSA 8"', 'label:"PSA 9"', 'label:"PSA 10"']],
    ['market!=source_b', 0, []],
    ['name:char', 0, []],
    ['nothing:a', 0, []],
    ['genre<', 0, []],
    ['zz', 0, []],
  ])('%s', async (text, from, options) => {
    const completions = await complete(text)
    expect(completions.from).toBe(from)
    expect(completions.options.slice(0, options.length || 1)).toEqual(options)
  })

  test('list fields first, each once, up to the maximum', async () => {
    const { options } = await complete('')
    expect(options.slice(0, 4)).toEqual(['name:', 'code:', 'number:', 'set:'])
    expect(options.length).toBe(12)
  })

  test('every offered term is a valid query', async () => {
    for (const field of ['set', 'rarity', 'finish', 'lang', 'illustrator', 'card', 'type', 'game', 'genre', 'market', 'label']) {
      const { options } = await complete(`${field}:`)
      for (const option of options) {
        const { status, body } = await send(`${node.operatorUrl}/operator/v1/items?per_page=1&query=${encodeURIComponent(option)}`, OPERATOR_TOKEN)
        expect(status, option).toBe(200)
        expect((body as unknown as { query: string }).query).toBe(option)
      }
    }
  })

  test('a text that exceeds the maximum query length is rejected', async () => {
    const { status } = await send(`${node.operatorUrl}/operator/v1/query-completions?text=${'a'.repeat(501)}`, OPERATOR_TOKEN)
    expect(status).toBe(422)
  })
})

test('the item list combines a field query with other filters', async () => {
  const all = await operator<{ id: number; game: string }[]>(node, 'GET', '/items?per_page=100&query=genre:sealed')
  const some = await operator<{ id: number }[]>(node, 'GET', '/items?per_page=100&game=onepiece&query=genre:sealed')
  expect(some.length).toBeGreaterThan(0)
  expect(some).toEqual(all.filter(({ game }) => game === 'onepiece'))
  const { status, body } = await send(`${node.operatorUrl}/operator/v1/items?query=colour:red`, OPERATOR_TOKEN)
  expect(status).toBe(422)
  expect(body.error!.details).toMatchObject([{ field: 'query', rule: 'query_field', params: { name: 'colour', at: 1 } }])
})

describe.skipIf(NO_BROWSER)(`In a browser${WHY}`, () => {
  let browser: Browser

  beforeAll(async () => {
    browser = await launch()
  })

  const complete = async (options: BrowserContextOptions, label: string, refusal: string): Promise<void> => {
    const { page, open, close, troubles } = await signedIn(browser, node, { ...options, reducedMotion: 'reduce' })
    await open('/catalogue')
    const input = page.getByRole('combobox', { name: label, exact: true })
    const choices = page.getByRole('listbox').getByRole('option')
    const shown = () => input.getAttribute('aria-expanded')
    // The list is dimmed until it shows the results for the typed text.
    const listed = page.waitForResponse((response) => new URL(response.url()).searchParams.get('query') === 'gen')
    await input.pressSequentially('gen')
    await listed
    await choices.getByText('genre:').waitFor()
    await expect.poll(() => shown()).toBe('true')
    await settled(page)
    expect(await seriousOf(page)).toEqual([])
    await expect.poll(() => page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
    await input.press('ArrowDown')
    const active = await input.getAttribute('aria-activedescendant')
    await expect.poll(() => choices.first().getAttribute('id')).toBe(active)
    await expect.poll(() => choices.first().getAttribute('aria-selected')).toBe('true')
    await input.press('Enter')
    await expect.poll(() => input.inputValue()).toBe('genre:')
    await choices.getByText('genre:sealed').click()
    await expect.poll(() => input.inputValue()).toBe('genre:sealed ')
    await expect.poll(() => shown()).toBe('false')
    await page.waitForURL((url) => url.searchParams.get('query') === 'genre:sealed')
    await input.pressSequentially('ra')
    await choices.getByText('rarity:').waitFor()
    await input.press('Escape')
    await expect.poll(() => shown()).toBe('false')
    await input.fill('genre:sealed colour:red')
    await page.getByRole('alert').getByText(refusal).waitFor()
    await expect.poll(() => page.getByRole('row').count()).toBeGreaterThan(1)
    await settled(page)
    expect(await seriousOf(page)).toEqual([])
    await input.fill('')
    await until('the address has no query', () => !new URL(page.url()).searchParams.has('query'))
    await page.getByRole('alert').waitFor({ state: 'detached' })
    expect(troubles).toEqual([])
    await close()
  }

  test('wide, in English: completed by keyboard and by pointer, and rejected with a message', () =>
    complete({ viewport: { width: 1280, height: 900 }, locale: 'en-GB' }, 'Search', 'has no field colour'))
  test('narrow, in Turkish: the same', { tags: 'slow' }, () => complete({ viewport: { width: 390, height: 800 }, locale: 'tr-TR' }, 'Ara', 'colour'))
})
