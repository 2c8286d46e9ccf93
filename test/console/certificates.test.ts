// Certificates and files of price indices in the console, in a real browser: looked up, loaded from files, and refused row by row.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { seriousOf } from '../support/axe.ts'
import { startSampleNode } from '../support/sample-node.ts'
import type { TestNode } from '../support/node.ts'
import { announced, LAYOUTS, launch, NO_BROWSER, operator, signedIn, settled, type Visit, walk, WHY } from './browser.ts'

describe.skipIf(NO_BROWSER)(`Certificates in the console${WHY}`, () => {
  let node: TestNode
  let browser: Browser
  let visited: Visit
  let page: Page
  let itemId: number

  beforeAll(async () => {
    node = await startSampleNode({ listeners: 'operator' })
    browser = await launch()
    itemId = (await operator<{ id: number }[]>(node, 'GET', '/items?search=charizard'))[0]!.id
    visited = await signedIn(browser, node)
    page = visited.page
  })

  afterAll(async () => {
    expect(visited.troubles).toEqual([])
    await node.close()
  })

  const choose = (name: string, text: string) =>
    page
      .locator('input[type=file]')
      .setInputFiles({ name, mimeType: name.endsWith('.json') ? 'application/json' : 'text/csv', buffer: Buffer.from(text) })
  const load = () => page.getByRole('button', { name: 'Load file' }).click()
  const narrow = async () => {
    await page.setViewportSize({ width: 390, height: 800 })
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
    await page.setViewportSize({ width: 1280, height: 800 })
  }

  test('a CSV is loaded, its bad rows are named, and a certificate is found by its grader and number', async () => {
    await visited.open('/listings')
    await page.getByRole('link', { name: 'Certificates' }).click()
    await choose(
      'certs.csv',
      `grader,cert,grade,item_id,label,qualifier\nPSA,12345678,10,${itemId},PSA 10,\nPSA,A1,9,${itemId},,OC\nPSA,!,9,${itemId},,\n`,
    )
    await load()
    await page.getByRole('status').getByText('2 new and 0 known certificates loaded; 1 rows refused').waitFor()
    await page.getByRole('row', { name: /^3 PSA A1 Loaded A1 does not look like/ }).waitFor()
    await page.getByRole('row', { name: /^4 .* Refused Certificate number must/ }).waitFor()
    await narrow()
    await page.getByLabel('Certificate number').fill('0012345678')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'PSA 12345678' }).waitFor()
    await page.getByRole('link', { name: /Charizard/ }).waitFor()
    expect(new URL(page.url()).search).toBe('?grader=PSA&cert=0012345678')
    await settled(page)
    expect(await seriousOf(page)).toEqual([])
    await narrow()
  })

  test('a JSON file replaces what was known, and one that is not JSON is refused', { tags: 'slow' }, async () => {
    await visited.open('/certificates')
    await choose('certs.json', JSON.stringify([{ grader: 'PSA', cert: '12345678', grade: '9', item_id: itemId }]))
    await load()
    await page.getByRole('status').getByText('0 new and 1 known certificates loaded; 0 rows refused').waitFor()
    await choose('certs.json', '[{')
    await load()
    await page.getByRole('alert').getByText('The file is not valid JSON.').waitFor()
    expect(await operator(node, 'GET', '/certificates?grader=PSA&cert=12345678')).toMatchObject({ known: { grade: '9', label: null } })
  })

  test('on a phone, the pages do not move while they load, and have no accessibility problems', { tags: 'slow' }, async () => {
    const phone = await signedIn(browser, node, LAYOUTS.at(-1)!.options)
    expect(await walk(phone, ['/certificates', '/certificates?grader=PSA&cert=12345678', '/certificates?grader=CGC&cert=999', '/indices'])).toEqual(
      [],
    )
    await phone.close()
  })

  test('an unknown certificate and a bad number say so', async () => {
    await visited.open('/certificates?grader=CGC&cert=999')
    await page.getByText('Nothing is known of this certificate.').waitFor()
    await page.getByLabel('Certificate number').fill('!')
    await page.getByRole('button', { name: 'Look up' }).click()
    await page.getByRole('alert').getByText('must').waitFor()
  })

  test('months of an index are loaded from a file, all or none', { tags: 'slow' }, async () => {
    await visited.open('/indices')
    await page.getByRole('button', { name: 'Load months from a file' }).click()
    await page.getByRole('dialog').waitFor()
    expect(await seriousOf(page)).toEqual([])
    await choose('cpi.csv', 'index,month,value\nTRY_CPI,2026-09,3440.12\nTRY_CPI,2026-13,3512.18\n')
    await load()
    await page
      .getByRole('alert')
      .getByText(/^Line 3, Month must be a date/)
      .waitFor()
    expect(await operator(node, 'GET', '/indices')).toEqual([])
    await choose('cpi.csv', 'index,month,value\nTRY_CPI,2026-09,3440.12\nTRY_CPI,2026-10,3512.18\n')
    await load()
    await announced(page, '2 months loaded')
    await page.getByRole('row', { name: '2026-10 TRY_CPI 3,512.18' }).waitFor()
    await narrow()
    await page.locator('header select').first().selectOption('tr')
    await page.getByRole('button', { name: 'Ayları dosyadan yükle' }).click()
    await choose('cpi.csv', 'index,month,value\nTRY_CPI,2026-09,x\n')
    await page.getByRole('button', { name: 'Dosyayı yükle' }).click()
    await page
      .getByRole('alert')
      .getByText(/^Satır 2, Değer/)
      .waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.locator('header select').first().selectOption('en')
  })
})
