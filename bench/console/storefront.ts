// `node bench/console/storefront.ts [runs] [slowdown of the processor]`: how long a phone waits for the largest part of a page of examples/storefront on its first visit, with nothing
// cached. Every connection goes through a link of 150 ms and 1.6 Mbit/s, as Lighthouse simulates a phone, that also delays the handshakes of TCP and TLS.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { createServer as createHttpServer, request as httpRequest } from 'node:http'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium, type Browser } from 'playwright-core'
import { freePort } from '../processes.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const RTT_MS = 150
const BYTES_PER_MS = 1_600 / 8
const CPU_SLOWDOWN = Number(process.argv[3] ?? 4)
/** Of TCP and of TLS 1.3, before the first request of a connection. */
const HANDSHAKES = 2
const PAGES = ['/', '/?q=charizard', '/cards/5']
const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true }
const BROWSER = { executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] }
const runs = Number(process.argv[2] ?? 7)

/** When the link has sent everything that was given to it. */
let busyUntil = 0

/** The proxy of a shop, which has the pictures of the service under the shop's own address, as examples/storefront/README.md says. */
async function proxyOf(shopPort: number, servicePort: number): Promise<number> {
  const server = createHttpServer((incoming, response) => {
    const isPicture = /^\/(images|photos|sample)\//.test(incoming.url!)
    const { method, url: path, headers } = incoming
    const onward = httpRequest({ port: isPicture ? servicePort : shopPort, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(response)
    })
    incoming.pipe(onward)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** A server in front of a port, at the other end of the link. */
async function farAway(port: number): Promise<number> {
  const server = createServer((near) => carry(near, connect(port, '127.0.0.1')))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

function carry(near: Socket, far: Socket): void {
  // The browser believes to be connected at once; the first bytes arrive after the handshakes.
  const opened = performance.now() + HANDSHAKES * RTT_MS
  const later = (at: number, act: () => void) => setTimeout(act, Math.max(0, at - performance.now()))
  near.on('data', (bytes) => later(Math.max(opened, performance.now()) + RTT_MS / 2, () => far.writable && far.write(bytes)))
  far.on('data', (bytes: Buffer) => {
    for (let from = 0; from < bytes.length; from += 1_400) {
      const part = bytes.subarray(from, from + 1_400)
      busyUntil = Math.max(busyUntil, performance.now()) + part.length / BYTES_PER_MS
      later(busyUntil + RTT_MS / 2, () => near.writable && near.write(part))
    }
  })
  for (const [one, other] of [
    [near, far],
    [far, near],
  ] as const) {
    one.on('error', () => other.destroy())
    one.on('close', () => later(busyUntil + RTT_MS, () => other.destroy()))
  }
}

interface Load {
  lcp: number
  /** what was the largest: the address of a picture, or the name of an element */
  what: string
}

async function load(browser: Browser, url: string): Promise<Load> {
  const context = await browser.newContext(PHONE)
  try {
    const page = await context.newPage()
    await (await context.newCDPSession(page)).send('Emulation.setCPUThrottlingRate', { rate: CPU_SLOWDOWN })
    await page.goto(url, { waitUntil: 'networkidle' })
    return await page.evaluate(
      () =>
        new Promise<Load>((resolve) => {
          // The types are those of Node, which does not know this entry of browsers.
          new PerformanceObserver((list) => {
            const last = list.getEntries().at(-1) as PerformanceEntry & { url: string; element: { tagName: string } | null }
            resolve({ lcp: Math.round(last.startTime), what: last.url || (last.element?.tagName ?? '') })
          }).observe({ type: 'largest-contentful-paint' as 'mark', buffered: true })
        }),
    )
  } finally {
    await context.close()
  }
}

/** Starts a program, and resolves with what it printed once that matches. */
async function started(command: string[], options: { cwd: string; env: NodeJS.ProcessEnv }, ready: RegExp): Promise<string> {
  const program = spawn(process.execPath, command, { ...options, stdio: ['ignore', 'pipe', 'inherit'] })
  programs.push(program)
  let out = ''
  return new Promise((resolve, reject) => {
    program.once('exit', () => reject(new Error(`${command.join(' ')} ended: ${out}`)))
    program.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text
      if (ready.test(out)) resolve(out)
    })
  })
}

/** The demo prints its credentials at every start. */
function keyIn(printed: string): string {
  return /Enterprise key\s+(\S+)/.exec(printed)![1]!
}

async function stopAll(): Promise<void> {
  for (const program of programs.splice(0).reverse()) {
    if (program.exitCode !== null) continue
    program.kill()
    await once(program, 'exit')
  }
}

const directory = mkdtempSync(join(tmpdir(), 'storefront-'))
const programs: ChildProcess[] = []
const browser = await chromium.launch(BROWSER)
try {
  const [port, operatorPort, shopPort] = [await freePort(), await freePort(), await freePort()]
  const [shopFar, pictureFar] = [await farAway(await proxyOf(shopPort, port)), await farAway(port)]
  const shop = join(directory, 'shop')
  cpSync(join(ROOT, 'examples/storefront'), shop, { recursive: true })
  mkdirSync(join(shop, 'node_modules/@mintmark'), { recursive: true })
  symlinkSync(join(ROOT, 'client'), join(shop, 'node_modules/@mintmark/client'))
  const service = {
    DATA_DIR: join(directory, 'data'),
    PORT: String(port),
    OPERATOR_PORT: String(operatorPort),
    COPY_PICTURES: 'off',
    LOG_LEVEL: 'warn',
  }
  console.log('| Pictures | Page | Largest | LCP ms (median) | Slowest |\n| --- | --- | --- | --: | --: |')
  for (const [where, pictures] of Object.entries({ 'own address': pictureFar, 'address of the shop': shopFar })) {
    const PUBLIC_URL = `http://127.0.0.1:${pictures}`
    const printed = await started(['src/main.ts', 'serve'], { cwd: ROOT, env: { ...process.env, ...service, PUBLIC_URL } }, /Ctrl-C/)
    const settings = { MINTMARK_URL: `http://127.0.0.1:${port}`, MINTMARK_KEY: keyIn(printed), PORT: String(shopPort), PICTURE_ORIGINS: PUBLIC_URL }
    await started(['server.ts'], { cwd: shop, env: { ...process.env, ...settings } }, /Listening/)
    for (const path of PAGES) {
      // A visit of another buyer, so that the storefront has the page, as it has all that are read often.
      await (await fetch(`http://127.0.0.1:${shopPort}${path}`)).text()
      const loads: Load[] = []
      for (let run = 0; run < runs; run += 1) loads.push(await load(browser, `http://127.0.0.1:${shopFar}${path}`))
      const times = loads.map(({ lcp }) => lcp).sort((a, b) => a - b)
      console.log(`| ${where} | \`${path}\` | ${loads[0]!.what.split('/').at(-1)} | ${times[times.length >> 1]} | ${times.at(-1)} |`)
    }
    await stopAll()
  }
} finally {
  await browser.close()
  await stopAll()
  rmSync(directory, { recursive: true, force: true })
  process.exit()
}
