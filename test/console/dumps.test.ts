// Dumps in the console, in a real browser: none yet, one created by a button with its progress, and an unusable store.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { seriousOf } from '../support/axe.ts'
import { startTestNode, type TestNode, until } from '../support/node.ts'
import { openS3, type S3Store } from '../support/s3.ts'
import { launch, NO_BROWSER, operator, signedIn, WHY } from './browser.ts'

describe.skipIf(NO_BROWSER)(`Dumps in the console${WHY}`, () => {
  let node: TestNode
  let browser: Browser
  let s3: S3Store
  let folder: string

  beforeAll(async () => {
    s3 = await openS3()
    folder = mkdtempSync(join(tmpdir(), 'mintmark-staged-'))
    node = await startTestNode({ env: { ...s3.settings, DUMPS_DIR: folder }, listeners: 'operator' })
    const category = await operator<{ id: number }>(node, 'POST', '/categories', { name: 'Set', game: 'pokemon', market: 'source_c' })
    await operator(node, 'POST', '/items', { name: 'Card', ref: 'card:1', market: 'source_c', category_id: category.id })
    browser = await launch()
  })

  afterAll(async () => {
    await node.close()
    await s3.close()
    rmSync(folder, { recursive: true })
  })

  test('are created and listed with their files, and show why a dump failed', async () => {
    const { page, open, close } = await signedIn(browser, node, { reducedMotion: 'reduce', locale: 'en-GB' })
    await open('')
    await page.getByRole('link', { name: 'Dumps' }).click()
    await page.getByText('No dumps yet.').waitFor()

    // Its last table cannot be read until the lock is released.
    const { promise: free, resolve: unlock } = Promise.withResolvers<void>()
    const lock = node.db.kysely.transaction().execute(async (tx) => {
      await sql`lock table prices`.execute(tx)
      await free
    })
    await page.getByRole('button', { name: 'Create dump' }).click()
    await page.getByRole('progressbar', { name: 'A dump is running' }).waitFor()
    await page.getByText('2 of 3 tables, 2 rows').waitFor()
    await expect.poll(() => page.getByRole('button', { name: 'Create dump' }).count()).toBe(0)
    expect(await seriousOf(page)).toEqual([])
    unlock()
    await lock
    await page.getByRole('heading', { name: 'Latest dump' }).waitFor()
    const files = await page.locator('tbody tr').allTextContents()
    expect(files.map((text) => text.replace(/-\d{8}T\d+Z/, ''))).toEqual([
      expect.stringMatching(/^categories\.ndjson\.gz1/),
      expect.stringMatching(/^categories\.parquet1/),
      expect.stringMatching(/^items\.ndjson\.gz1/),
      expect.stringMatching(/^items\.parquet1/),
      expect.stringMatching(/^prices\.ndjson\.gz0/),
      expect.stringMatching(/^prices\.parquet0/),
    ])
    await page.getByText(s3.settings.DUMPS_S3_URL).waitFor()

    await s3.stop()
    await page.getByRole('button', { name: 'Create dump' }).click()
    await page.getByRole('alert').getByText('The dump store is unavailable.').waitFor()
    await until('it has failed', async () => (await operator<{ failure: string | null }>(node, 'GET', '/dumps')).failure !== null)
    await page.getByRole('alert').getByText('The last dump failed.').waitFor()
    expect(await seriousOf(page)).toEqual([])
    await close()
  })
})
