// A new service in a real browser: the first owner by the link, two-factor sign-in, signing out and in, an ended session, people.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeOwnerLink } from '#accounts/people/make-owner-link.ts'
import { call } from '#core/verb.ts'
import { codeOf, member, nextCode, PASSWORD } from '../accounts/people-kit.ts'
import { seriousOf } from '../support/axe.ts'
import { startTestNode, type TestNode, until } from '../support/node.ts'
import { announced, launch, NO_BROWSER, settled, type Visit, visit, WHY } from './browser.ts'

const NARROW = { viewport: { width: 390, height: 800 }, locale: 'tr-TR' }

describe.skipIf(NO_BROWSER)(`People${WHY}`, () => {
  let node: TestNode
  let browser: Browser

  beforeAll(async () => {
    node = await startTestNode({ listeners: 'operator' })
    browser = await launch()
  })

  afterAll(() => node.close())

  /** No findings of axe, nothing wider than the window, one heading. */
  async function expectSound(page: Page): Promise<void> {
    await settled(page)
    expect(await seriousOf(page)).toEqual([])
    await expect.poll(() => page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
    await expect.poll(() => page.locator('h1').count()).toBe(1)
  }

  async function signInAs({ page }: Visit, name: string, code: string): Promise<void> {
    await page.locator('input[name=name]').fill(name)
    await page.locator('input[name=password]').fill(PASSWORD)
    await page.locator('input[name=code]').fill(code)
    await page.keyboard.press('Enter')
  }

  test('first start, owner, two-factor sign-in, sign-out, sign-in, end of a session', async () => {
    const first = await visit(browser, node, { reducedMotion: 'reduce' })
    const { page } = first
    const { link_path: path } = await call(makeOwnerLink, node.ctx, {})
    await page.goto(node.operatorUrl + path)
    await page.getByRole('heading', { name: 'Become the owner of this service' }).waitFor()
    await expectSound(page)
    await page.getByLabel('Name', { exact: false }).fill('Ayşe')
    await page.getByLabel('New password').fill('passwordpassword')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('is too easy to guess').waitFor()
    await page.getByLabel('New password').fill(PASSWORD)
    await page.keyboard.press('Enter')

    await page.getByText('Set up two-factor sign-in first').waitFor()
    expect(new URL(page.url()).hash).toBe('')
    await expect.poll(() => page.locator('nav a').allInnerTexts()).toEqual(['My account'])
    await expectSound(page)
    await page.getByLabel('Current password').fill(PASSWORD)
    await page.keyboard.press('Enter')
    const secret = (await page.locator('output.secret').textContent())!.replaceAll(' ', '')
    await expect.poll(() => page.locator('svg.qr-code path').getAttribute('d')).toMatch(/^M\d/)
    await expectSound(page)
    const used = codeOf(node, secret)
    await page.locator('input[name=code]').fill(used)
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'Audit log' }).waitFor()

    // There is no data yet: the first page says what to do.
    await page.getByRole('link', { name: 'First steps' }).click()
    await page.getByRole('heading', { name: 'First steps' }).waitFor()
    await expectSound(page)
    await expect
      .poll(() => page.locator('.first-steps li').allInnerTexts())
      .toMatchObject([
        expect.stringMatching(/^done\s+Create an owner/i),
        expect.stringMatching(/^open\s+Load a catalogue/i),
        ...['Load prices', 'Load exchange rates', 'Create an account', 'Create an API key', 'Publish the first listing'].map((step) =>
          expect.stringContaining(step),
        ),
      ])
    await page.getByRole('link', { name: 'Load a catalogue' }).click()
    await page.getByRole('heading', { name: 'Imports' }).waitFor()

    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.locator('input[name=code]').waitFor()
    await expectSound(page)
    await signInAs(first, 'ayşe', used)
    await page.getByRole('alert').getByText('The name, the password or the code is wrong').waitFor()
    nextCode(node)
    await signInAs(first, 'ayşe', codeOf(node, secret))
    await page.getByRole('link', { name: 'Audit log' }).waitFor()

    const second = await visit(browser, node, { reducedMotion: 'reduce', ...NARROW })
    await second.open('')
    await expectSound(second.page)
    nextCode(node)
    await signInAs(second, 'Ayşe', codeOf(node, secret))
    await second.page.locator('nav').first().waitFor()
    await second.open('/my-account')
    await expectSound(second.page)

    await page.getByRole('link', { name: 'My account' }).click()
    await page.getByText('this session').waitFor()
    await expectSound(page)
    await page
      .getByRole('button', { name: /^End: / })
      .first()
      .click()
    await page.getByRole('dialog').getByRole('button', { name: 'End' }).click()
    await announced(page, 'Session ended')
    await expect.poll(() => page.locator('tbody tr').filter({ hasText: 'this session' }).count()).toBe(1)
    await second.page.reload()
    await second.page.locator('input[name=code]').waitFor()
    expect([...first.troubles, ...second.troubles]).toEqual([])
    await first.close()
    await second.close()
  })

  test('an owner adds a person, assigns roles and creates a token; others do not see people', { tags: 'slow' }, async () => {
    const owner = await member(node, 'Owner', ['owner'])
    nextCode(node)
    const visited = await visit(browser, node, { reducedMotion: 'reduce', ...NARROW })
    const { page } = visited
    await visited.open('')
    await signInAs(visited, owner.name, codeOf(node, owner.secret))
    await page.locator('nav').first().waitFor()
    await visited.open('/people')
    await expectSound(page)
    await page.getByRole('button', { name: 'Yeni kişi' }).click()
    await page.getByRole('dialog').getByLabel('Ad', { exact: false }).first().fill('Barış')
    await page.getByLabel(/^Pazar/).check()
    expect(await seriousOf(page)).toEqual([])
    await page.getByRole('button', { name: 'Bağlantı oluştur' }).click()
    const link = await page.locator('dialog output.secret').textContent()
    expect(link).toContain(`${node.operatorUrl}/console/join#link=mintlink_`)
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'Barış' }).click()
    await page.getByRole('heading', { level: 1, name: 'Barış' }).waitFor()
    await expectSound(page)
    await page.getByRole('button', { name: 'Yeni anahtar' }).click()
    await page.locator('dialog input[name=label]').fill('akış')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.locator('dialog output.secret').textContent()).toMatch(/^mintop_/)
    await page.keyboard.press('Escape')

    const invited = await visit(browser, node, { reducedMotion: 'reduce' })
    await invited.page.goto(link!)
    await invited.page.getByLabel('New password').fill(PASSWORD)
    await expect.poll(() => invited.page.locator('input[name=name]').inputValue()).toBe('Barış')
    await invited.page.keyboard.press('Enter')
    await invited.page.getByText('Set up two-factor sign-in first').waitFor()
    await until('the link is used up', async () => (await node.db.kysely.selectFrom('person_links').select('hash').execute()).length === 0)
    const reused = await visit(browser, node)
    await reused.page.goto(link!)
    await reused.page.getByLabel('New password').fill(PASSWORD)
    await reused.page.keyboard.press('Enter')
    await reused.page.getByRole('alert').getByText('This link is not valid').waitFor()
    expect([...visited.troubles, ...invited.troubles, ...reused.troubles]).toEqual([])
    for (const each of [visited, invited, reused]) await each.close()
  })
})
