// The review of matches in a real browser: decided by keyboard and by mouse, one record or a whole set, and withdrawn.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Match } from '#identity/review/matches.ts'
import type { SetMatch } from '#identity/review/set-matches.ts'
import type { Stats } from '../../src/stats/read-stats.ts'
import { pokemontcgFiles, tcgdexFiles } from '../imports/waiting-cards.ts'
import { importFiles, startTestNode, type TestNode, until } from '../support/node.ts'
import { announced, launch, NO_BROWSER, operator, settled, signedIn, type Visit, WHY } from './browser.ts'

/** Pictures come from their source, which a test does not request. */
const PICTURES = /https:\/\/assets\.tcgdex\.net\//

describe.skipIf(NO_BROWSER)(`Matches in the console${WHY}`, () => {
  let node: TestNode
  let browser: Browser
  let visited: Visit
  let page: Page

  beforeAll(async () => {
    node = await startTestNode({ listeners: 'operator' })
    await importFiles(node, 'tcgdex', tcgdexFiles)
    await importFiles(node, 'pokemontcg', pokemontcgFiles)
    browser = await launch()
    visited = await signedIn(browser, node)
    page = visited.page
    await page.route(PICTURES, (route) => route.abort())
  })

  afterAll(() => node.close())

  const decisionOf = async (name: string, state = 'decided') =>
    (await operator<Match[]>(node, 'GET', `/matches?state=${state}&per_page=100`)).find((match) => match.record.name === name)?.decision
  const shown = (name: string) => page.getByRole('article', { name, exact: true })
  const done = (text: string) => announced(page, text)

  test('a record is shown next to its candidate, with the differences', async () => {
    await visited.open('/matches?reason=hp')
    await page.getByRole('button', { name: 'Charizard' }).click()
    const record = shown('Charizard').getByRole('region', { name: 'Record' })
    const candidate = shown('Charizard').getByRole('region', { name: 'Candidate Charizard' })
    await shown('Charizard').getByText('Hit points differ: 999 and 80.').first().waitFor()
    for (const text of ['pokemontcg base1-4', '4/102', '999']) await record.getByText(text, { exact: true }).waitFor()
    for (const text of ['Base Set', '4/102', '80', 'Holo']) await candidate.getByText(text, { exact: true }).waitFor()
  })

  test('the keyboard selects a candidate, a new item, or later', async () => {
    await visited.open('/matches?set=base')
    await page.getByRole('list', { name: 'Matches' }).getByRole('button').first().focus()
    const names: string[] = []
    for (const key of ['1', 'n', 'l']) {
      const name = (await page.getByRole('article').getAttribute('aria-label'))!
      names.push(name)
      await page.keyboard.press(key)
      await done({ 1: `Matched: ${name}`, n: `New item: ${name}`, l: `Postponed: ${name}` }[key]!)
      await settled(page)
    }
    await page.getByText('No matches for these filters.').waitFor()
    await expect.poll(() => Promise.all(names.map(async (name) => (await decisionOf(name))?.kind))).toEqual(['accepted', 'separated', undefined])
    await expect.poll(() => decisionOf(names[2]!, 'postponed')).toBeNull()
  })

  test('a decision can be withdrawn', async () => {
    await visited.open('/matches?state=decided')
    const name = (await page.getByRole('article').getAttribute('aria-label'))!
    await page.getByText(/^(Matched|Made a new item) by operator/).waitFor()
    await page.getByRole('button', { name: 'Withdraw' }).click()
    await done(`Withdrawn: ${name}`)
    await until('the record waits again', async () => (await decisionOf(name, 'waiting')) === null)
  })

  test('a decision by another person is reported and kept', { tags: 'slow' }, async () => {
    await visited.open('/matches?reason=hp')
    const name = (await page.getByRole('article').getAttribute('aria-label'))!
    const [match] = (await operator<Match[]>(node, 'GET', '/matches?reason=hp')).filter(({ record }) => record.name === name)
    await operator(node, 'POST', `/matches/${match!.id}/separate`)
    await page.getByRole('button', { name: 'Same card' }).first().click()
    await page.getByText(new RegExp(`^${name}: Match ${match!.id} is already separated by operator`)).waitFor()
    expect((await decisionOf(name))!.kind).toBe('separated')
  })

  test('a set is matched to another set found by name', { tags: 'slow' }, async () => {
    await visited.open('/set-matches')
    await page.getByRole('button', { name: 'Another set…: Jungle' }).click()
    const dialog = page.getByRole('dialog', { name: 'Which set is Jungle?' })
    await dialog.getByLabel('Search').fill('no set is called so')
    await dialog.getByText('No matches for these filters.').waitFor()
    await dialog.getByLabel('Search').fill('base')
    await dialog.getByRole('option', { name: /^Base Set · tcgdex/ }).waitFor()
    const [chosen] = await dialog.getByRole('listbox').selectOption({ index: 0 })
    await dialog.getByRole('button', { name: 'Same set' }).click()
    await page
      .getByRole('dialog', { name: /^Is Jungle the same set as / })
      .getByRole('button', { name: 'Same set' })
      .click()
    await announced(page, /^Jungle decided/)
    const decided = await operator<SetMatch[]>(node, 'GET', '/set-matches?state=decided')
    const jungle = decided.find(({ set }) => set.name === 'Jungle')!
    expect(jungle.decision!.set_ids).toContain(Number(chosen))
    await operator(node, 'POST', `/set-matches/${jungle.id}/withdraw`)
  })

  test('the today page counts pending matches', { tags: 'slow' }, async () => {
    await visited.open('')
    const { matches } = await operator<Stats>(node, 'GET', '/stats')
    expect(matches.waiting).toBe((await operator<Match[]>(node, 'GET', '/matches?per_page=100')).length)
    expect(matches.postponed).toBe((await operator<Match[]>(node, 'GET', '/matches?state=postponed&per_page=100')).length)
    await page.getByRole('link', { name: `Pending matches ${matches.waiting}` }).click()
    await page.getByRole('heading', { name: 'Matches' }).waitFor()
  })

  test('a whole set is decided at once, and the decision is withdrawn', { tags: 'slow' }, async () => {
    await visited.open('/matches')
    await page.getByRole('link', { name: 'Sets' }).click()
    await settled(page)
    await page.getByRole('button', { name: 'Same set: Jungle, Jungle' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Same set' }).click()
    await done('Jungle decided; 0 of its cards are still pending')
    await page.getByLabel('State').selectOption('decided')
    await page.getByRole('button', { name: 'Withdraw: Jungle' }).click()
    await done('Withdrawn: Jungle')
  })

  test('there were no page errors', () => {
    expect(visited.troubles.filter((trouble) => !PICTURES.test(trouble))).toEqual([])
  })
})
