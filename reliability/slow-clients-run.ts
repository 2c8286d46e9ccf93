// Runs slow and misbehaving clients against a node while a well-behaved client measures response times: which clients the node disconnects,
// when, and whether other clients are affected.
import { Agent, get as httpGet } from 'node:http'
import { gzipSync } from 'node:zlib'
import { atMost, count, figure, type Finding, percentile } from './report.ts'
import { malformedRequests } from './slow-clients-malformed.ts'
import { pause, until } from './service.ts'
import { drip, exchange, open, statusesOf, statusOf } from './slow-clients-wire.ts'

export interface NodeUnderTest {
  publicUrl: string
  operatorUrl: string
  operatorToken: string
  /** of a plan that allows lists of 100 */
  key: string
  /** id of a collection that accepts file imports */
  collection: number
  /** resident memory of the program in MB; null if it is not a process of its own */
  residentMb: () => number | null
  /** upload files on the disk */
  uploads: () => string[]
}

export interface Sizes {
  /** slow clients of each kind */
  slow: number
  /** connections opened at once */
  connections: number
  pipelined: number
  /** size in MB of an unpacked gzip bomb */
  bombMb: number
  /** whether to wait for clients that do not read, which requires a catalogue with large responses */
  waitForUnread: boolean
  /** whether to wait for clients that send their bodies slowly */
  waitForBodies: boolean
}

export const SHORT: Sizes = { slow: 20, connections: 400, pipelined: 1_000, bombMb: 128, waitForUnread: false, waitForBodies: false }
export const FULL: Sizes = { slow: 100, connections: 400, pipelined: 1_000, bombMb: 1_024, waitForUnread: true, waitForBodies: true }

const PROBE_EVERY_MS = 20
const MAX_PROBE_MS = 500
/** The server's timeouts plus the time it needs to notice them. */
const HEADERS_CUT_MS = 13_000
const BODY_CUT_MS = 33_000
/** A client that is still connected by then counts as never disconnected. */
const GIVE_UP_MS = 180_000
/** The server disconnects 34 s after the last byte that it could send. */
const UNREAD_CUT_MS = 42_000
/** More than the socket buffers of both sides hold. */
const UNREAD_ANSWERS = 300

/** Runs all parts; calls `onProgress` with the name of each part before it starts. */
export async function runMisbehavingClients(node: NodeUnderTest, sizes: Sizes, onProgress: (line: string) => void = () => {}): Promise<Finding[]> {
  const findings: Finding[] = []
  const residentAtFirst = node.residentMb()
  const measured = async (what: string, work: () => Promise<Finding[]>) => {
    onProgress(what)
    const probe = startProbe(node)
    findings.push(...(await work()))
    const { times, failures } = await probe.stop()
    findings.push(
      atMost(`${what}: p99 of other clients' requests`, percentile(times, 0.99), MAX_PROBE_MS, ' ms'),
      count(`${what}: failed requests of other clients`, failures, 0),
    )
  }
  // The server disconnects these clients by timeouts, so they start first and all other parts run meanwhile.
  const dripping = drippingClients(node, sizes)
  await measured('malformed requests', () => sendMalformed(node))
  await measured('concurrent connections', () => connectAtOnce(node, sizes.connections))
  await measured('pipelined requests', () => pipeline(node, sizes.pipelined))
  await measured('compressed bodies', () => sendCompressed(node, sizes.bombMb))
  await measured('aborted uploads', () => abortUploads(node, sizes.slow))
  await measured('slow clients', () => waitForDisconnects(node, sizes, dripping))
  findings.push(count('5xx responses counted by the program', await failuresCounted(node), 0))
  if (residentAtFirst !== null) {
    await pause(2_000)
    const resident = node.residentMb()!
    findings.push(figure('memory before, in MB', residentAtFirst), atMost('memory afterwards, in MB', resident, residentAtFirst * 1.5 + 100))
  }
  return findings
}

/** Requests aborted by the client must not count as failures either. */
async function failuresCounted({ operatorUrl, operatorToken }: NodeUnderTest): Promise<number> {
  const text = await (await fetch(`${operatorUrl}/metrics`, { headers: { authorization: `Bearer ${operatorToken}` } })).text()
  const counts = [...text.matchAll(/^mintmark_http_request_seconds_count\{.*status="5\d\d"\} (\d+)$/gm)]
  return counts.reduce((sum, match) => sum + Number(match[1]), 0)
}

/** Requests an item and a page in turn until stopped. */
function startProbe({ publicUrl, key }: NodeUnderTest): { stop: () => Promise<{ times: number[]; failures: number }> } {
  const agent = new Agent({ keepAlive: true })
  const times: number[] = []
  let failures = 0
  let running = true
  const ask = (path: string) =>
    new Promise<void>((resolve) => {
      const started = performance.now()
      const done = (ok: boolean) => {
        times.push(performance.now() - started)
        if (!ok) failures += 1
        resolve()
      }
      httpGet(`${publicUrl}${path}`, { agent, headers: { authorization: `Bearer ${key}` }, timeout: 60_000 }, (response) => {
        response.resume().on('end', () => done(response.statusCode === 200))
      })
        .on('timeout', function (this: { destroy: () => void }) {
          this.destroy()
        })
        .on('error', () => done(false))
    })
  const probing = (async () => {
    for (let i = 0; running; i += 1) {
      await ask(i % 2 === 0 ? '/api/v1/items?per_page=5' : '/api/v1/plus/my-listings?per_page=5')
      await pause(PROBE_EVERY_MS)
    }
  })()
  return {
    stop: async () => {
      running = false
      await probing
      agent.destroy()
      return { times, failures }
    },
  }
}

async function sendMalformed({ publicUrl, key }: NodeUnderTest): Promise<Finding[]> {
  const requests = malformedRequests(key)
  const wrong: string[] = []
  await Promise.all(
    requests.map(async ({ what, bytes, statuses }) => {
      const { text, endedMs } = await exchange(publicUrl, Buffer.from(bytes, 'latin1'))
      const status = statusOf(text)
      if (endedMs === null) wrong.push(`${what}: not closed`)
      else if (!statuses.includes(status)) wrong.push(`${what}: ${status}`)
      else if (status >= 400 && !hasEnvelope(text)) wrong.push(`${what}: ${status} without the envelope`)
      if (statusesOf(text).includes(200) && !statuses.includes(200)) wrong.push(`${what}: a hidden request got a response`)
    }),
  )
  return [
    figure('malformed requests', requests.length),
    count(`malformed requests with a wrong response${wrong.length > 0 ? ` (${wrong.join('; ')})` : ''}`, wrong.length, 0),
  ]
}

/** Whether an error response is the envelope with a request id; GraphQL has its own form. */
function hasEnvelope(text: string): boolean {
  const [head = '', body = ''] = text.split('\r\n\r\n', 2)
  return /\r\nx-request-id: \S/i.test(head) && /^\{"(success":false,"error":\{|errors":\[\{)/.test(body)
}

async function connectAtOnce({ publicUrl, key }: NodeUnderTest, connections: number): Promise<Finding[]> {
  const request = `GET /api/v1/items?per_page=100 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`
  const started = performance.now()
  const answers = await Promise.all(Array.from({ length: connections }, () => exchange(publicUrl, request)))
  const good = answers.filter(({ text, endedMs }) => endedMs !== null && statusOf(text) === 200).length
  return [
    count(`responses to ${connections} concurrent connections`, good, connections),
    figure('time for all of them, in ms', performance.now() - started),
  ]
}

async function pipeline({ publicUrl, key }: NodeUnderTest, requests: number): Promise<Finding[]> {
  const request = (i: number) =>
    `GET /api/v1/items/search?q=charizard&per_page=1&page=${i} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nX-Request-Id: p${i}\r\n${i === requests ? 'Connection: close\r\n' : ''}\r\n`
  const { text } = await exchange(publicUrl, Array.from({ length: requests }, (_, i) => request(i + 1)).join(''))
  const ids = [...text.matchAll(/x-request-id: p(\d+)/gi)].map((match) => Number(match[1]))
  const inOrder = ids.filter((id, i) => id === i + 1).length
  return [count(`responses to ${requests} pipelined requests, in order`, inOrder, requests)]
}

/** Bodies that are small when sent and large when unpacked. */
async function sendCompressed(node: NodeUnderTest, bombMb: number): Promise<Finding[]> {
  const { publicUrl, operatorUrl, operatorToken, key, collection } = node
  const post = (url: string, credential: string, body: Buffer, type = 'application/json') =>
    fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${credential}`, 'content-type': type, 'content-encoding': 'gzip' },
      body: new Uint8Array(body),
      signal: AbortSignal.timeout(180_000),
    })
  const zeros = gzipOf(bombMb, '0')
  const findings: Finding[] = []
  for (const [what, url, credential] of [
    ['REST', `${publicUrl}/api/v1/plus/make-highlight`, key],
    ['GraphQL', `${publicUrl}/graphql`, key],
    ['POST /prices', `${operatorUrl}/operator/v1/prices`, operatorToken],
  ] as const) {
    const { status } = await post(url, credential, zeros)
    findings.push({
      what: `status for a compressed body, ${what}`,
      value: status,
      promised: '400, 413 or 415',
      holds: [400, 413, 415].includes(status),
    })
  }
  const files: [what: string, format: string, content: Buffer][] = [
    ['one endless line', 'mintmark-ndjson', zeros],
    ['empty lines', 'mintmark-ndjson', gzipOf(bombMb, '\n')],
    ['empty lines', 'pricecharting-csv', gzipOf(bombMb, '\n')],
    ['one endless document', 'tcgdex', gzipOf(bombMb, '[')],
  ]
  for (const [what, format, content] of files) {
    const started = performance.now()
    const answer = await post(`${operatorUrl}/operator/v1/imports/${format}?file_name=bomb.gz`, operatorToken, content, 'application/octet-stream')
    const { data } = (await answer.json()) as { data: { id: number } }
    const status = await importEnd(node, data.id)
    findings.push({
      what: `an import of ${bombMb} MB of ${what} as ${format}`,
      value: `${status} after ${Math.round(performance.now() - started)} ms`,
      promised: 'failed',
      holds: status === 'failed',
    })
  }
  for (const [what, content] of [
    ['one endless line', zeros],
    ['empty lines', gzipOf(bombMb, '\n')],
  ] as const) {
    const started = performance.now()
    const { status } = await post(`${operatorUrl}/operator/v1/collections/${collection}/import/collectr`, operatorToken, content, 'text/csv')
    findings.push({
      what: `a collection's file of ${bombMb} MB of ${what}`,
      value: `${status} after ${Math.round(performance.now() - started)} ms`,
      promised: '413 or 422',
      holds: status === 413 || status === 422,
    })
  }
  return findings
}

/** Gzip of this many MB of one character. */
function gzipOf(megabytes: number, character: string): Buffer {
  // Gzip members may be concatenated.
  const one = gzipSync(Buffer.alloc(1024 * 1024, character), { level: 9 })
  return Buffer.concat(Array.from({ length: megabytes }, () => one))
}

async function importEnd({ operatorUrl, operatorToken }: NodeUnderTest, id: number): Promise<string> {
  const ends = performance.now() + 120_000
  while (performance.now() < ends) {
    const response = await fetch(`${operatorUrl}/operator/v1/imports/${id}`, { headers: { authorization: `Bearer ${operatorToken}` } })
    const { status } = ((await response.json()) as { data: { status: string } }).data
    if (status === 'done' || status === 'failed') return status
    await pause(50)
  }
  return 'not finished'
}

/** Uploads aborted midway must leave neither files nor imports. */
async function abortUploads({ operatorUrl, operatorToken, uploads }: NodeUnderTest, clients: number): Promise<Finding[]> {
  const importsOf = async () => {
    const response = await fetch(`${operatorUrl}/operator/v1/imports?per_page=1`, { headers: { authorization: `Bearer ${operatorToken}` } })
    return ((await response.json()) as { pagination: { total: number } }).pagination.total
  }
  const before = await importsOf()
  const head = `POST /operator/v1/imports/mintmark-ndjson HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${operatorToken}\r\n`
  const framings = ['Content-Length: 50000000\r\n\r\n', 'Transfer-Encoding: chunked\r\n\r\n100000\r\n']
  const stalled = Array.from({ length: clients }, (_, i) => open(operatorUrl, head + framings[i % 2]! + 'x'.repeat(500_000)))
  await until('all uploads are under way', () => uploads().length === clients)
  for (const { end } of stalled) end()
  await until('aborted uploads are removed', () => uploads().length === 0).catch(() => {})
  return [count('files left by aborted uploads', uploads().length, 0), count('imports started by aborted uploads', (await importsOf()) - before, 0)]
}

/** Opens `slow` clients of one kind. */
function openClients({ publicUrl }: NodeUnderTest, { slow }: Sizes, bytes: string, giveUpMs: number, reads = true) {
  return Array.from({ length: slow }, () => open(publicUrl, bytes, { giveUpMs, reads }))
}

/** Opens clients that send their headers or body byte by byte, and clients that send nothing. */
function drippingClients(node: NodeUnderTest, sizes: Sizes) {
  const auth = `Host: x\r\nAuthorization: Bearer ${node.key}\r\n`
  const headers = openClients(node, sizes, `GET /api/v1/items HTTP/1.1\r\n${auth}X-Slow: `, GIVE_UP_MS)
  const bodies = openClients(
    node,
    sizes,
    `POST /graphql HTTP/1.1\r\n${auth}Content-Type: application/json\r\nContent-Length: 10000\r\n\r\n{`,
    GIVE_UP_MS,
  )
  const silent = openClients(node, sizes, '', GIVE_UP_MS)
  for (const client of headers) drip(client, 'x', 250)
  for (const client of bodies) drip(client, ' ', 250)
  return { headers, bodies, silent }
}

/** Waits until dripping clients are disconnected, in parallel with clients that do not read their responses. */
async function waitForDisconnects(
  node: NodeUnderTest,
  sizes: Sizes,
  { headers, bodies, silent }: ReturnType<typeof drippingClients>,
): Promise<Finding[]> {
  const { slow, waitForUnread, waitForBodies } = sizes
  const request = `GET /api/v1/items?per_page=100 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${node.key}\r\n\r\n`
  const unread = openClients(node, sizes, request.repeat(UNREAD_ANSWERS), UNREAD_CUT_MS + 10_000, false)
  const cutBy = performance.now() + UNREAD_CUT_MS
  const findings: Finding[] = []
  for (const [what, clients, statuses, cutMs] of [
    ['dripping headers', headers, [408], HEADERS_CUT_MS],
    ...(waitForBodies ? ([['dripping bodies', bodies, [408], BODY_CUT_MS]] as const) : []),
    ['no data', silent, [0, 408], HEADERS_CUT_MS],
  ] as const) {
    const times = await Promise.all(clients.map(({ ended }) => ended))
    findings.push(
      count(`clients with ${what} disconnected`, times.filter((ms) => ms !== null).length, slow),
      count(
        `clients with ${what} that got status ${statuses.join(' or ')}`,
        clients.filter(({ received }) => (statuses as readonly number[]).includes(statusOf(received()))).length,
        slow,
      ),
      atMost(`clients with ${what}: time until the last one was disconnected`, Math.max(...times.map((ms) => ms ?? GIVE_UP_MS)), cutMs, ' ms'),
    )
  }
  if (waitForUnread) {
    await pause(cutBy - performance.now())
    // A client that does not read cannot notice a disconnect: once they read, those still connected get all responses.
    for (const { read } of unread) read()
    await Promise.all(unread.map(({ ended }) => ended))
    findings.push(
      count('clients that do not read disconnected', unread.filter(({ received }) => statusesOf(received()).length < UNREAD_ANSWERS).length, slow),
    )
  } else for (const { end } of unread) end()
  if (!waitForBodies) for (const { end } of bodies) end()
  return findings
}
