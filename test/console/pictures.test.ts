// Pictures in the console: a seller's image address never reaches a reviewer's browser, and what the service cannot fetch is a placeholder.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startSampleNode } from '../support/sample-node.ts'
import { image, type ImageServer, openImageServer } from '../images/image-server.ts'
import { send, startTestNode, type TestNode } from '../support/node.ts'
import { launch, NO_BROWSER, operator, signedIn, type Visit, WHY } from './browser.ts'

const PIXEL = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64')

describe.skipIf(NO_BROWSER)(`Pictures in the console${WHY}`, () => {
  let node: TestNode
  let source: ImageServer
  let browser: Browser
  const dataDir = mkdtempSync(join(tmpdir(), 'mintmark-pictures-'))

  beforeAll(async () => {
    source = await openImageServer()
    node = await startSampleNode({ env: { DATA_DIR: dataDir } })
    browser = await launch()
    const [item] = await operator<{ id: number }[]>(node, 'GET', '/items?search=charizard')
    const images = [{ url: source.at('/x.png', image(PIXEL)), order: 1 }]
    await operator(node, 'POST', '/listings', { seller_id: node.accounts.plus, item_id: item!.id, title: 'Pictured', price: 500, images })
  })

  afterAll(async () => {
    await node.close()
    await source.close()
    rmSync(dataDir, { recursive: true, force: true })
  })

  /** The status of a picture for the signed-in browser. */
  const statusOf = ({ page }: Visit, url: string) =>
    page.evaluate<number>(`fetch('/console/pictures?url=' + ${JSON.stringify(encodeURIComponent(url))}).then(({ status }) => status)`)

  test('an address on this machine: neither the browser nor the service contacts it', async () => {
    const visited = await signedIn(browser, node)
    await visited.open('/approvals')
    await visited.page.locator('.pictures [role=img]').waitFor()
    expect(await statusOf(visited, `${source.url}/x.png`)).toBe(502)
    for (const url of ['file:///etc/passwd', 'x', 'https://', '']) expect(await statusOf(visited, url), url).toBe(422)
    expect([source.askedFor('/x.png'), visited.troubles]).toEqual([0, []])
    await visited.close()
  })

  test('an allowed address: the service fetches the picture once, and the browser gets it from the service', { tags: 'slow' }, async () => {
    const open = await startTestNode({ databaseUrl: node.databaseUrl, env: { DATA_DIR: dataDir, WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' } })
    const visited = await signedIn(browser, open)
    for (const path of ['/approvals', '/approvals']) {
      await visited.open(path)
      await expect.poll(() => visited.page.evaluate<number>("document.querySelector('.pictures img')?.naturalWidth ?? 0")).toBe(1)
    }
    expect([source.askedFor('/x.png'), visited.troubles]).toEqual([1, []])
    await visited.close()
    await open.close()
  })

  test('a photo that sellers uploaded is read from the store, and the queue marks that another seller has it', async () => {
    const item = (await operator<{ id: number }[]>(node, 'GET', '/items?search=charizard'))[0]!
    const upload = async (seller: 'plus' | 'enterprise') => {
      await operator(node, 'PATCH', `/accounts/${node.accounts[seller]}`, { listing_intake: { quota: 9 } })
      const headers = { 'content-type': 'image/png' }
      return (await send<{ url: string }>(`${node.publicUrl}/api/v1/plus/images`, node.keys[seller], { body: PIXEL, headers })).body.data.url
    }
    const [, url] = [await upload('enterprise'), await upload('plus')]
    await operator(node, 'POST', '/listings', { seller_id: node.accounts.plus, item_id: item.id, title: 'Uploaded', price: 500, images: [url] })
    const visited = await signedIn(browser, node)
    await visited.open('/approvals')
    await visited.page.getByText('Photo of another seller').waitFor()
    expect(await visited.page.getByText('Photo of another seller').count()).toBe(1)
    expect([await statusOf(visited, url), await statusOf(visited, url.replace('1.webp', '2.webp'))]).toEqual([200, 502])
    expect(visited.troubles).toEqual([])
    await visited.close()
  })

  test('changed pictures are shown before and after, and the queue marks those that could not be copied', { tags: 'slow' }, async () => {
    const [listing] = await operator<{ id: number }[]>(node, 'GET', '/listings?search=pictured')
    await operator(node, 'POST', `/listings/${listing!.id}/approve`, {})
    const { status } = await send(`${node.publicUrl}/api/v1/plus/listings/${listing!.id}`, node.keys.plus, {
      method: 'PATCH',
      json: { images: [`${source.url}/y.png`, `${source.url}/x.png`] },
    })
    expect(status).toBe(200)
    const worker = await startTestNode({ worker: true, databaseUrl: node.databaseUrl, env: { DATA_DIR: dataDir, COPY_PICTURES: 'on' } })
    for (const hours of [0, 1, 2, 7]) {
      worker.clock.advance(hours * 3_600_000)
      await worker.runTask('picture-copies')
    }
    await worker.close()
    const visited = await signedIn(browser, node)
    await visited.open('/approvals')
    await visited.page.getByText('Picture not copied').waitFor()
    await visited.open(`/listings/${listing!.id}`)
    await visited.page.getByText(`Not copied, its server fails or is not allowed: ${source.url}/y.png`).waitFor()
    const row = visited.page.getByRole('row', { name: /^Images/ })
    await expect.poll(() => row.locator('del [role=img]').count()).toBe(1)
    expect(await row.locator('ins [role=img]').count()).toBe(2)
    expect(visited.troubles).toEqual([])
    await visited.close()
  })

  test('only for people who are signed in, and the pages allow no other source of images', async () => {
    const anonymous = await fetch(`${node.operatorUrl}/console/pictures?url=${encodeURIComponent(`${source.url}/x.png`)}`)
    expect(anonymous.status).toBe(401)
    const page = await fetch(`${node.operatorUrl}/console`)
    expect(page.headers.get('content-security-policy')).toContain("img-src 'self' data:;")
  })
})
