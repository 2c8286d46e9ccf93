// Receivers that people start with: the command `listen` and the examples of the docs, with notifications of the real sender.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command, CommanderError } from 'commander'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createAccount } from '#accounts/create-account.ts'
import { register as registerListen } from '#cli/listen.ts'
import { call } from '#core/verb.ts'
import { checkWebhook } from '#webhooks/check-webhook.ts'
import { configureWebhook } from '#webhooks/configure-webhook.ts'
import { listWebhookLogs } from '#webhooks/list-attempts.ts'
import { webhookRules } from '#webhooks/rules.ts'
import { sendTestEvent } from '#webhooks/send-test-event.ts'
import { signatureOf } from '#webhooks/delivery/sign.ts'
import type { WebhookCtx } from '#webhooks/webhook-types.ts'
import { silent, startTestNode, type TestNode, until } from '../support/node.ts'
import { sell } from './receiver.ts'

let node: TestNode
const processes: ChildProcess[] = []

beforeAll(async () => {
  node = await startTestNode({ env: { WEBHOOK_RETRY_DELAYS: '20ms,20ms' }, worker: true, listeners: 'none' })
})
afterEach(async () => {
  for (const child of processes.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue
    child.kill()
    await once(child, 'exit')
  }
})
afterAll(() => node.close())

const has = (program: string, ...args: string[]) => spawnSync(program, args).status === 0

/** Starts a program that prints the URL it listens on. @returns its output as it grows */
async function start(command: string, args: string[], env: Record<string, string> = {}) {
  const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  processes.push(child)
  const output = { text: '' }
  // PHP's server writes everything to standard error.
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (chunk: string) => (output.text += chunk))
  await until('it listens', () => /http:\/\/[\w.:]+[^\w.:]/.test(output.text) || child.exitCode !== null)
  return { url: `${/http:\/\/[\w.:]+/.exec(output.text)![0]}/hook`, output, child }
}

const testCtx = (): WebhookCtx => ({ ...node.ctx, webhooks: webhookRules(node.config, node.db, silent, () => []) })

/** An account with a webhook, whose URL is known only after its secret. */
async function openSeller() {
  const { id: accountId } = await call(createAccount, node.ctx, { name: 'Seller', plan: 'plus' })
  const webhooks = webhookRules(node.config, node.db, silent, () => [])
  const ctx: WebhookCtx = { ...node.ctx, viewer: { kind: 'account', accountId, keyId: 0, plan: 'plus' }, webhooks }
  const { secret } = await call(configureWebhook, ctx, { url: 'https://example.com' })
  const pointTo = (url: string) => call(configureWebhook, ctx, { url, on_sale: true })
  const logs = async () => (await call(listWebhookLogs, ctx, {})).rows
  return { accountId, ctx, secret: secret!, pointTo, logs }
}

describe('mintmark listen', () => {
  const mintmark = (...args: string[]) => start(process.execPath, ['src/main.ts', 'listen', '--port', '0', ...args])

  test('verifies and prints notifications, and responds', { tags: 'slow' }, async () => {
    const seller = await openSeller()
    const { url, output, child } = await mintmark('--secret', seller.secret)
    await seller.pointTo(url)
    await sell(node, seller.accountId)
    await until('printed', () => output.text.includes('"order_id"'))
    expect(output.text).toMatch(/✓ verified {2}evt_\d+ {2}→ 200\n\{\n {2}"event": "sale"/)
    await until('logged', async () => (await seller.logs()).length === 1)
    expect(await seller.logs()).toMatchObject([{ success: true, response_excerpt: 'received' }])
    await call(sendTestEvent, testCtx(), { account_id: seller.accountId, event: 'sale' })
    await until('printed as a test', () => /✓ verified {2}evt_\d+ \(test\) {2}→ 200/.test(output.text))
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([0, null])
  })

  test('responds with the given status, after the given delay, and with 401 to an invalid signature', { tags: 'slow' }, async () => {
    const seller = await openSeller()
    const { url, output } = await mintmark('--secret', seller.secret, '--status', '503', '--delay', '50ms')
    await seller.pointTo(url)
    await sell(node, seller.accountId)
    await until('logged', async () => (await seller.logs()).length === 3)
    expect((await seller.logs()).map((log) => log.status_code)).toEqual([503, 503, 503])
    const started = performance.now()
    const headers = { 'x-service-signature': signatureOf(seller.secret, 'x') }
    expect((await fetch(url, { method: 'POST', body: 'x', headers })).status).toBe(503)
    expect(performance.now() - started).toBeGreaterThanOrEqual(49)
    expect((await fetch(url, { method: 'POST', body: 'y', headers })).status).toBe(401)
    expect((await fetch(url, { method: 'POST', body: 'y' })).status).toBe(401)
    await until('printed', () => output.text.includes('✗ the signature does not match'))
  })

  test('reports invalid options', async () => {
    for (const args of [[], ['--secret', 's', '--port', '70000'], ['--secret', 's', '--status', '99'], ['--secret', 's', '--delay', '6']]) {
      const program = new Command('mintmark').exitOverride().configureOutput({ writeErr: () => {} })
      registerListen(
        program,
        async () => {},
        () => {},
      )
      await expect(program.parseAsync(['listen', ...args], { from: 'user' })).rejects.toBeInstanceOf(CommanderError)
    }
  })
})

describe('examples of the docs', () => {
  const servers = [
    { name: 'TypeScript', command: process.execPath, args: ['docs/examples/receiver.ts', '0'], there: true },
    {
      name: 'Python',
      command: 'python3',
      args: ['docs/examples/receiver.py', '0'],
      there: has('python3', '--version'),
    },
    {
      name: 'PHP',
      command: 'php',
      args: ['-S', '127.0.0.1:0', 'docs/examples/receiver.php'],
      there: has('php', '--version'),
    },
  ]
  for (const { name, command, args, there } of servers) {
    test.runIf(there)(`${name}: accepts genuine notifications, rejects others`, async () => {
      const seller = await openSeller()
      const { url, output } = await start(command, args, { WEBHOOK_SECRET: seller.secret })
      await seller.pointTo(url)
      await sell(node, seller.accountId)
      await until('printed', () => /evt_\d+ sale \{.*"order_id"/.test(output.text))
      await until('logged', async () => (await seller.logs()).length === 1)
      expect(await seller.logs()).toMatchObject([{ success: true, status_code: 204 }])
      await call(sendTestEvent, testCtx(), { account_id: seller.accountId, event: 'sale' })
      await until('told apart', () => output.text.includes('test delivery'))
      expect(output.text.match(/evt_/g)).toHaveLength(1)
      const forged = { 'x-service-signature': signatureOf('another secret', '{}'), 'webhook-id': 'evt_x' }
      expect((await fetch(url, { method: 'POST', body: '{}', headers: forged })).status).toBe(401)
      expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(401)
      const { checks } = await call(checkWebhook, seller.ctx, {})
      expect(checks.filter(({ ok }) => !ok)).toEqual([])
    })
  }

  test.runIf(has('openssl', 'version'))('shell: recognises genuine notifications', () => {
    const folder = mkdtempSync(join(tmpdir(), 'mintmark-webhook-'))
    const body = '{"event":"sale","data":{"item_name":"Charizard ✨"}}'
    writeFileSync(join(folder, 'body.json'), body)
    const verify = (signature: string) =>
      spawnSync('sh', ['docs/examples/receiver.sh', join(folder, 'body.json'), signature], {
        env: { ...process.env, WEBHOOK_SECRET: 's3cret' },
      })
    expect(verify(signatureOf('s3cret', body)).status).toBe(0)
    expect(verify(signatureOf('other', body)).status).toBe(1)
    rmSync(folder, { recursive: true })
  })
})
