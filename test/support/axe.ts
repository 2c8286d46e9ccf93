// Findings of axe on a page of a browser.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { ALL_CASES } from './runs.ts'

const SOURCE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

/** Injects axe into every page that is opened from now on, so that it is sent only once for many pages. */
export async function bringAxe(page: Page): Promise<void> {
  await page.addInitScript({ content: SOURCE })
}

/** Serious and critical findings of axe in the light theme; in `npm run test:all` also in the dark one, which differs only in its colours. */
export async function seriousOf(page: Page): Promise<string[]> {
  // Without motion: colours in transition would be measured.
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
  const light = await seriousAsShown(page)
  if (!ALL_CASES) return light
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' })
  return [...light, ...(await seriousColours(page)).map((what) => `in dark: ${what}`)]
}

/** The same for a page, or a part of it, in its current colours. */
export function seriousAsShown(page: Page, part?: string): Promise<string[]> {
  return axeOf(page, part, 'tag', ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'])
}

/** Problems with the current colours of a page or a part of it. */
export function seriousColours(page: Page, part?: string): Promise<string[]> {
  return axeOf(page, part, 'rule', ['color-contrast', 'link-in-text-block'])
}

async function axeOf(page: Page, part: string | undefined, type: 'tag' | 'rule', values: string[]): Promise<string[]> {
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(SOURCE)
  // Style sheets and media are fetched again only for rules that are not among these.
  const on = part === undefined ? 'document' : JSON.stringify(part)
  const options = { preload: false, resultTypes: ['violations'], runOnly: { type, values } }
  return page.evaluate<string[]>(`axe.run(${on}, ${JSON.stringify(options)}).then(({ violations }) => violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map((node) => id + ' at ' + node.target.join(' ') + ' ' + (node.any[0]?.message ?? ''))))`)
}
