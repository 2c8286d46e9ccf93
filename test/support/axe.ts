// What axe finds on a page of a browser.
import axe from 'axe-core'
import type { Page } from 'playwright-core'

/** What axe holds for serious or critical, in light; and in dark, which differs by its colours. */
export async function seriousOf(page: Page): Promise<string[]> {
  await page.emulateMedia({ colorScheme: 'light' })
  const light = await seriousAsShown(page)
  await page.emulateMedia({ colorScheme: 'dark' })
  return [...light, ...(await seriousColours(page)).map((what) => `in dark: ${what}`)]
}

/** The same of a page, or of a part of it, in the colours that it has. */
export function seriousAsShown(page: Page, part?: string): Promise<string[]> {
  return axeOf(page, part, 'tag', ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'])
}

/** What is wrong with the colours that a page or a part of it has now. */
export function seriousColours(page: Page, part?: string): Promise<string[]> {
  return axeOf(page, part, 'rule', ['color-contrast', 'link-in-text-block'])
}

async function axeOf(page: Page, part: string | undefined, type: 'tag' | 'rule', values: string[]): Promise<string[]> {
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axe.source)
  // Style sheets and media are fetched again only for rules that are not among these.
  const on = part === undefined ? 'document' : JSON.stringify(part)
  const options = { preload: false, resultTypes: ['violations'], runOnly: { type, values } }
  return page.evaluate<string[]>(`axe.run(${on}, ${JSON.stringify(options)}).then(({ violations }) => violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map((node) => id + ' at ' + node.target.join(' ') + ' ' + (node.any[0]?.message ?? ''))))`)
}
