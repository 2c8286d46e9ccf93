// Twelve webhook receivers: a correct one, and eleven with a common mistake.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Notification {
  headers: IncomingHttpHeaders
  raw: Buffer
}

/** The status with which a receiver responds; never resolves if it does not respond. */
type Receive = (notification: Notification) => number | Promise<number>

interface Reference {
  /** returns the receiver for notifications signed with this secret; it remembers what it has processed */
  open: (secret: string) => Receive
  /** the checks that the receiver fails */
  fails: string[]
  /** a sentence of the advice on the first failed check */
  advice?: RegExp
}

const TOLERANCE_SECONDS = 300
const same = (a: string, b: string) => a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))
const text = (value: string | string[] | undefined) => String(value ?? '')
const isFresh = ({ headers }: Notification) => Math.abs(Date.now() / 1000 - Number(headers['webhook-timestamp'])) <= TOLERANCE_SECONDS
const signedText = ({ headers, raw }: Notification) => `${text(headers['webhook-id'])}.${text(headers['webhook-timestamp'])}.${raw.toString()}`
const signatures = ({ headers }: Notification) => text(headers['webhook-signature']).split(' ')
const ownSignature = (secret: string, body: string | Buffer) => createHmac('sha256', secret).update(body).digest('hex')
const standardSignature = (secret: string, of: Notification, encoding: 'base64' | 'base64url' = 'base64') =>
  `v1,${createHmac('sha256', secret).update(signedText(of)).digest(encoding)}`
const isGenuine = (secret: string, of: Notification) => signatures(of).some((one) => same(one, standardSignature(secret, of))) && isFresh(of)

const ALL = ['valid', 'duplicate', 'second_signature', 'altered', 'reformatted', 'unsigned', 'empty_secret', 'stale']
const FORGED = ['altered', 'reformatted', 'unsigned', 'empty_secret', 'stale']
const ACCEPTED = ['valid', 'duplicate', 'second_signature']

export const REFERENCE_RECEIVERS: Record<string, Reference> = {
  'verifies everything': {
    open: (secret) => {
      const processed = new Set<string>()
      return (notification) => {
        if (!isGenuine(secret, notification)) return 401
        processed.add(text(notification.headers['webhook-id']))
        return 204
      }
    },
    fails: [],
  },
  'accepts everything': { open: () => () => 200, fails: FORGED, advice: /Verify the signature of every notification/ },
  'answers before it verifies': {
    open: (secret) => (notification) => {
      setImmediate(() => isGenuine(secret, notification))
      return 202
    },
    fails: FORGED,
    advice: /before you respond/,
  },
  'verifies with an empty secret': {
    open: () => (notification) => (isGenuine('', notification) ? 200 : 401),
    fails: [...ACCEPTED, 'empty_secret'],
    advice: /keyed with the text of the secret/,
  },
  'verifies the JSON that it wrote again': {
    open: (secret) => (notification) => {
      const { headers, raw } = notification
      const body = JSON.stringify(JSON.parse(raw.toString()))
      return same(text(headers['x-service-signature']), ownSignature(secret, body)) && isFresh(notification) ? 200 : 401
    },
    fails: ['reformatted'],
    advice: /raw bytes/,
  },
  'answers too late': { open: () => () => new Promise(() => {}), fails: ALL, advice: /long work afterwards/ },
  'does not look at the time': {
    open: (secret) => (notification) => (signatures(notification).some((one) => same(one, standardSignature(secret, notification))) ? 200 : 401),
    fails: ['stale'],
    advice: /older than five minutes/,
  },
  'fails on what it has processed': {
    open: (secret) => {
      const processed = new Set<string>()
      return (notification) => {
        if (!isGenuine(secret, notification)) return 401
        const id = text(notification.headers['webhook-id'])
        if (processed.has(id)) return 409
        processed.add(id)
        return 200
      }
    },
    // The second signature arrives with the same id.
    fails: ['duplicate', 'second_signature'],
    advice: /same webhook-id arrives again/,
  },
  'compares with another base64': {
    open: (secret) => (notification) =>
      signatures(notification).some((one) => same(one, standardSignature(secret, notification, 'base64url'))) ? 200 : 401,
    fails: ACCEPTED,
    advice: /standard base64 with padding/,
  },
  'looks at the first signature only': {
    open: (secret) => (notification) => {
      const [first = ''] = signatures(notification)
      return same(first, standardSignature(secret, notification)) && isFresh(notification) ? 200 : 401
    },
    fails: ['second_signature'],
    advice: /any of the signatures/,
  },
  redirects: { open: () => () => 302, fails: ALL, advice: /Redirects are not followed/ },
  'fails always': { open: () => () => 500, fails: ALL, advice: /internal error/ },
}

/** Serves a receiver on loopback and records what it receives. */
export async function serve(reference: Reference) {
  const received: Notification[] = []
  let receive: Receive = () => 503
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const notification = { headers: request.headers, raw: Buffer.concat(chunks) }
      received.push(notification)
      void Promise.resolve(receive(notification)).then((status) => response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end())
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    /** called once its webhook is saved */
    useSecret: (secret: string) => void (receive = reference.open(secret)),
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
  }
}
