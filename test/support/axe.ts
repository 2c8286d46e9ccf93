// What axe finds on a page of a browser.
import axe from 'axe-core'
import type { Page } from 'playwright-core'

/** What axe holds for serious or critical, in light; and in dark, which differs by its colours. */
export async function seriousOf(page: Page): Promise<string[]> {
  await page.emulateMedia({ colorScheme: 'light' })
  const light = await seriousAsShown(page)
  await page.emulateMedia({ colorScheme: 'dark' })
  const dark = await axeOf(page, 'rule', ['color-contrast', 'link-in-text-block'])
  return [...light, ...dark.map((what) => `in dark: ${what}`)]
}

/** The same of a page in the colours that it has. */
export async function seriousAsShown(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  return axeOf(page, 'tag', ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'])
}

function axeOf(page: Page, type: 'tag' | 'rule', values: string[]): Promise<string[]> {
  return page.evaluate<
    string[]
  >(`axe.run(document, { resultTypes: ['violations'], runOnly: ${JSON.stringify({ type, values })} }).then(({ violations }) => violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map((node) => id + ' at ' + node.target.join(' ') + ' ' + (node.any[0]?.message ?? ''))))`)
}
