// Public sources and games in the console, in a real browser: a source is fetched from the first-run page, and its game shows what was loaded.
import type { ServerResponse } from 'node:http'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { file, openSourceServer, type SourceServer } from '../public-sources/source-server.ts'
import { seriousOf } from '../support/axe.ts'
import { startTestNode, type TestNode, until } from '../support/node.ts'
import { launch, NO_BROWSER, signedIn, WHY } from './browser.ts'

describe.skipIf(NO_BROWSER)(`Public sources in the console${WHY}`, () => {
  let server: SourceServer
  let node: TestNode
  let browser: Browser

  beforeAll(async () => {
    server = await openSourceServer()
    node = await startTestNode({ env: { SOURCES_MIRROR_URL: server.url }, listeners: 'operator' })
    browser = await launch()
  })

  afterAll(async () => {
    await node.close()
    await server.close()
  })

  test('are fetched with a button that shows the licence, and show progress, failure and the game', async () => {
    const RAW = '/raw.githubusercontent.com/PokemonTCG/pokemon-tcg-data/master'
    const sets = [{ id: 'base1', name: 'Base', series: 'Base', printedTotal: 102, total: 102, images: {} }]
    const card = { id: 'base1-1', name: 'Alakazam', supertype: 'Pokémon', number: '1', images: {} }
    let held: ServerResponse | null = null
    server.on(`${RAW}/sets/en.json`, file(JSON.stringify(sets)))
    server.on(
      `${RAW}/cards/en/base1.json`,
      (_request, response) => {
        held = response
      },
      file(JSON.stringify([card])),
    )
    const { page, open, close } = await signedIn(browser, node, { reducedMotion: 'reduce', locale: 'en-GB' })
    await open('')
    await page.getByRole('heading', { name: 'Public sources' }).waitFor()
    const row = page.getByRole('row', { name: /Pokémon TCG Data/ })
    expect(await row.textContent()).toContain('none stated')
    await page.getByRole('button', { name: 'Fetch Pokémon TCG Data' }).click()
    await page.getByRole('dialog').getByText('Licence: none stated').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Fetch' }).click()
    await until('the cards are asked for', () => held !== null)
    await row.getByRole('progressbar', { name: 'Download of Pokémon TCG Data' }).waitFor()
    await row.getByText('1 of 2 files').waitFor()
    expect(await seriousOf(page)).toEqual([])
    held!.writeHead(403).end()
    await row.getByText('Failed').waitFor()
    expect(await row.textContent()).toContain('responded with status 403')

    await page.getByRole('button', { name: 'Fetch Pokémon TCG Data' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Fetch' }).click()
    await row.getByText('Done').waitFor()

    const sent = server.asked.length
    await page.getByRole('button', { name: 'Fetch Pokémon TCG Data again although nothing has changed' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Fetch again' }).click()
    await until('the files are downloaded again', () => server.asked.length === sent + 2)
    expect(server.asked.slice(sent).map(({ ifNoneMatch }) => ifNoneMatch)).toEqual([undefined, undefined])
    await row.getByText('Done').waitFor()

    await open('/games')
    await page.getByRole('link', { name: 'Pokémon', exact: true }).click()
    await page.getByRole('heading', { name: 'Pokémon', exact: true }).waitFor()
    await page.getByRole('heading', { name: 'Sources of the catalogue' }).waitFor()
    await page
      .getByRole('link', { name: /pokemontcg \(2 files\)/ })
      .first()
      .waitFor()
    await page.getByRole('heading', { name: 'Public sources' }).waitFor()
    expect(await seriousOf(page)).toEqual([])
    await close()
  })
})
