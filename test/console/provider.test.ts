// Sign-in with an identity provider in a real browser: the button, the refusal with the other ways to sign in, and the signed-in person.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CLIENT, startProvider, type TestProvider } from '../accounts/provider-kit.ts'
import { freePorts } from '../../reliability/service.ts'
import { seriousOf } from '../support/axe.ts'
import { startTestNode, type TestNode } from '../support/node.ts'
import { launch, NO_BROWSER, settled, visit, WHY } from './browser.ts'

describe.skipIf(NO_BROWSER)(`Sign-in with an identity provider${WHY}`, () => {
  let node: TestNode
  let provider: TestProvider

  beforeAll(async () => {
    const [port] = (await freePorts(1)) as [number]
    const url = `http://127.0.0.1:${port}`
    provider = await startProvider(url)
    const oidc = { OIDC_ISSUER: provider.issuer, OIDC_CLIENT_ID: CLIENT.id, OIDC_CLIENT_SECRET: CLIENT.secret, OIDC_ROLES: 'cards=market' }
    node = await startTestNode({ listeners: 'operator', env: { ...oidc, OPERATOR_URL: url, OPERATOR_PORT: String(port) } })
  })
  afterAll(async () => {
    await node.close()
    await provider.close()
  })

  test('a person without a role is told so beside the password form, and with one is signed in', async () => {
    const { page, close } = await visit(await launch(), node, { viewport: { width: 390, height: 800 }, locale: 'tr-TR' })
    provider.person = { sub: 'ela', claims: { name: 'Ela', groups: ['others'] } }
    await page.goto(`${node.operatorUrl}/console`)
    const button = page.getByRole('button', { name: `${new URL(provider.issuer).host} ile giriş yap` })
    await button.click()
    await page.getByRole('alert').getByText('Bu hizmette bir rolünüz yok').waitFor()
    await page.locator('input[name=password]').waitFor()
    await settled(page)
    expect(await seriousOf(page)).toEqual([])
    await expect.poll(() => page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)

    provider.person.claims.groups = ['cards']
    await button.click()
    await page.getByText('Ela', { exact: true }).first().waitFor({ state: 'attached' })
    await page.goto(`${node.operatorUrl}/console/my-account`)
    await page.getByText('Kimlik sağlayıcı ile giriş yapıyorsunuz').waitFor()
    await expect.poll(() => page.locator('input[name=current_password]').count()).toBe(0)
    await page.getByText('kimlik sağlayıcı ile').first().waitFor()
    await close()
  })
})
