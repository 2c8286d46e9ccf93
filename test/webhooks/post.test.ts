// One POST request to servers that misbehave in every way, and to names that resolve to forbidden addresses.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { gzipSync } from 'node:zlib'
import { afterAll, expect, test } from 'vitest'
import type { Network } from '#outbound/dial.ts'
import { openResolver } from '#outbound/resolve.ts'
import { openGuard } from '#outbound/target-guard.ts'
import { post } from '#webhooks/delivery/post.ts'
import { openNameServer } from '../outbound/name-server.ts'
import { createCertificate } from '../support/certificate.ts'
import { type Behaviour, ok, openReceiver, silence, status } from './receiver.ts'

const guard = openGuard({ allowCidrs: ['127.0.0.0/8'], allowHttp: true, ownPorts: () => [], databasePorts: [] })
const network: Network = { guard, resolve: openResolver() }
const closing: (() => unknown)[] = []
afterAll(async () => {
  for (const close of closing) await close()
})

async function receiver(behaviour: Behaviour) {
  const opened = await openReceiver(behaviour)
  closing.push(opened.close)
  return opened
}

async function rawServer(onSocket: (socket: Socket) => void): Promise<string> {
  const server: Server = createServer((socket) => {
    socket.on('error', () => {})
    onSocket(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

const send = (url: string, over: Network = network) => post(new URL(url), { 'X-Test': 'yes' }, '{"a":1}', over)
const failed = (error: string) => ({ success: false, statusCode: null, error, excerpt: '' })

test('body and headers arrive unchanged, and 2xx is a success', async () => {
  const { url, received } = await receiver(status(204))
  expect(await send(`${url}?a=1#part`)).toEqual({ success: true, statusCode: 204, error: null, excerpt: '' })
  expect(received).toMatchObject([{ method: 'POST', path: `${new URL(url).pathname}?a=1`, headers: { 'x-test': 'yes', 'content-length': '7' } }])
  expect(received[0]!.body.toString()).toBe('{"a":1}')
})

test.concurrent('every other status is a failure, and redirects are not followed', { tags: 'slow' }, async () => {
  const target = await receiver(ok)
  const redirect = await receiver((_request, response) => void response.writeHead(307, { location: target.url }).end('elsewhere'))
  expect(await send(redirect.url)).toEqual({ success: false, statusCode: 307, error: null, excerpt: 'elsewhere' })
  expect(target.received).toEqual([])
  for (const code of [301, 400, 401, 410, 500, 503]) {
    const { url } = await receiver(status(code))
    expect(await send(url)).toMatchObject({ success: false, statusCode: code, error: null })
  }
})

test.concurrent('no response, slow headers, endless early hints, no TLS and no name server fail in time', { tags: 'slow' }, async () => {
  const drip = await rawServer((socket) => {
    socket.write('HTTP/1.1 200 OK\r\n')
    const timer = setInterval(() => socket.write('X-A: b\r\n'), 100)
    socket.on('close', () => clearInterval(timer))
  })
  const hints = await rawServer((socket) => {
    const timer = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 100)
    socket.on('close', () => clearInterval(timer))
  })
  const mute = await rawServer(() => {})
  const noAnswer = await openNameServer(() => null)
  closing.push(() => noAnswer.close())
  const outcomes = await Promise.all([
    send((await receiver(silence)).url),
    send(drip),
    send(hints),
    send(mute.replace('http', 'https')),
    send('http://slow.test/', { ...network, resolve: noAnswer.resolve }),
  ])
  const unresolved = outcomes.pop()
  expect(unresolved).toEqual(failed('name not resolved'))
  expect(outcomes).toEqual(outcomes.map(() => failed('timed out after 5 s')))
})

test.concurrent('headers in time are a success, however slow or large the body is', async () => {
  const slow = await receiver((_request, response) => void response.writeHead(200).write('begun'))
  const { promise: cutAt, resolve: cutOff } = Promise.withResolvers<number>()
  const endless = await receiver((_request, response) => {
    const chunk = Buffer.alloc(64 * 1024, 'x')
    let sent = 0
    const more = () => {
      while (response.write(chunk)) sent += chunk.length
      response.once('drain', more)
    }
    response.once('close', () => cutOff(sent))
    more()
  })
  const cut = await receiver((_request, response) => {
    response.writeHead(200, { 'content-length': '100' })
    response.write('half', () => response.destroy())
  })
  expect(await send(slow.url)).toEqual({ success: true, statusCode: 200, error: null, excerpt: 'begun' })
  expect(await send(endless.url)).toEqual({ success: true, statusCode: 200, error: null, excerpt: 'x'.repeat(1_000) })
  expect(await send(cut.url)).toEqual({ success: true, statusCode: 200, error: null, excerpt: 'half' })
  // What fits into the buffers of both sockets; the rest is not read.
  expect(await cutAt).toBeLessThan(128 * 1024 ** 2)
})

test.concurrent('excerpts are valid text: no control characters, invalid UTF-8 or lone surrogates', async () => {
  const excerpt = async (body: Buffer | string) => (await send((await receiver((_q, response) => void response.end(body))).url)).excerpt
  expect(await excerpt('a\u0000b\r\n\u001b[31mc\u0085d')).toBe('ab[31mcd')
  expect(await excerpt(Buffer.from([0x61, 0xff, 0xfe, 0x62]))).toBe('a\ufffd\ufffdb')
  expect(await excerpt('ğ'.repeat(3_000))).toBe('ğ'.repeat(1_000))
  const faces = await excerpt(`x${'😀'.repeat(3_000)}`)
  expect(faces).toBe(`x${'😀'.repeat(499)}`)
  const bomb = await receiver(
    (_request, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(1024 ** 2 * 20))),
  )
  const outcome = await send(bomb.url)
  expect(outcome).toMatchObject({ success: true, statusCode: 200 })
  expect(outcome.excerpt.length).toBeLessThanOrEqual(1_000)
})

test.concurrent('a receiver that does not speak HTTP, closes early or is missing counts as a failed connection', async () => {
  const bodies = [
    '',
    'nonsense\r\n\r\n',
    `HTTP/1.1 200 OK\r\nX: ${'y'.repeat(100_000)}\r\n\r\n`,
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
  ]
  for (const text of bodies) {
    const url = await rawServer((socket) => void socket.once('data', () => socket.end(text)))
    expect(await send(url), text.slice(0, 20)).toEqual(failed('connection failed'))
  }
  expect(await send(await rawServer((socket) => socket.resetAndDestroy()))).toEqual(failed('connection failed'))
  expect(await send('http://127.0.0.1:1/')).toEqual(failed('connection failed'))
})

test.concurrent('a rejected target is not connected to, and reveals nothing', async () => {
  let connections = 0
  const url = await rawServer((socket) => {
    connections += 1
    socket.end('HTTP/1.1 200 OK\r\n\r\nsecret')
  })
  const strict: Network = {
    ...network,
    guard: openGuard({ allowCidrs: [], allowHttp: true, ownPorts: () => [], databasePorts: [] }),
  }
  const { port } = new URL(url)
  for (const target of [
    url,
    `http://localhost:${port}/`,
    `http://[::ffff:127.0.0.1]:${port}/`,
    'http://127.0.0.1:1/',
    'http://169.254.169.254/latest/',
  ]) {
    expect(await send(target, strict), target).toEqual(failed('target address not allowed'))
  }
  expect(connections).toBe(0)
})

test.concurrent('all addresses of the resolver are checked, anew for every attempt', async () => {
  const { url, port, received } = await receiver(ok)
  const { pathname } = new URL(url)
  let rebound = false
  const names = await openNameServer((name) => {
    if (name === 'rebinding.test') return rebound ? ['10.0.0.1'] : ['127.0.0.1']
    if (name === 'mixed.test') return ['127.0.0.1', '192.168.0.1']
    if (name === 'fine.test') return ['127.0.0.1']
    return []
  })
  closing.push(() => names.close())
  const over: Network = { ...network, resolve: names.resolve }
  expect(await send(`http://fine.test:${port}${pathname}`, over)).toMatchObject({ success: true })
  expect(await send(`http://FINE.test.:${port}${pathname}`, over)).toMatchObject({ success: true })
  expect(received.map(({ headers }) => headers.host)).toEqual([`fine.test:${port}`, `fine.test.:${port}`])
  expect(await send(`http://rebinding.test:${port}${pathname}`, over)).toMatchObject({ success: true })
  rebound = true
  expect(await send(`http://rebinding.test:${port}${pathname}`, over)).toEqual(failed('target address not allowed'))
  expect(await send(`http://mixed.test:${port}${pathname}`, over)).toEqual(failed('target address not allowed'))
  expect(await send(`http://missing.test:${port}${pathname}`, over)).toEqual(failed('name not resolved'))
})

test.concurrent('certificates are verified', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'mintmark-tls-'))
  closing.push(() => rmSync(folder, { recursive: true }))
  const files = createCertificate(folder, 'DNS:fine.test,IP:127.0.0.1')
  const cert = readFileSync(files.certificate, 'utf8')
  const server = createSecureServer({ key: readFileSync(files.key), cert }, (_request, response) => void response.end('secure'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => server.close())
  const { port } = server.address() as AddressInfo
  const names = await openNameServer(() => ['127.0.0.1'])
  closing.push(() => names.close())
  const over: Network = { ...network, resolve: names.resolve }
  const plain = await receiver(ok)
  expect(await send(`https://127.0.0.1:${port}/`)).toEqual(failed('TLS error'))
  expect(await send(plain.url.replace('http', 'https'))).toEqual(failed('TLS error'))
  setDefaultCACertificates([...getCACertificates('default'), cert])
  expect(await send(`https://127.0.0.1:${port}/`)).toEqual({
    success: true,
    statusCode: 200,
    error: null,
    excerpt: 'secure',
  })
  expect(await send(`https://fine.test:${port}/`, over)).toMatchObject({ success: true })
  expect(await send(`https://other.test:${port}/`, over)).toEqual(failed('TLS error'))
})
