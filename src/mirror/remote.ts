// The client of a mirrored Mintmark service: its newest dump, the rows of a dump's files, and its changes.
import { createHash } from 'node:crypto'
import { createGunzip } from 'node:zlib'
import { createInterface } from 'node:readline'
import { Readable, Transform } from 'node:stream'
import { delay } from '#core/process/time-and-chance.ts'
import type { Change } from '#catalogue/list-changes.ts'
import type { Dump, DumpFile } from '#dumps/dump-types.ts'

/** The changes after the cursor are no longer available. */
export class CursorExpired extends Error {}

export interface Remote {
  /** address of the service, without a trailing slash */
  url: string
  key: string
  /** called when a request is retried */
  onRetry?: (why: string) => void
}

const FIRST_PAUSE_MS = 500
const MAX_PAUSE_MS = 30_000

/** @throws Error if there is no dump yet */
export async function newestDump(remote: Remote): Promise<Dump> {
  const { data } = (await (await get(remote, '/dumps')).json()) as { data: Dump | null }
  if (!data) throw new Error(`${remote.url} has no dump yet`)
  return data
}

/** Changes with the current data. @throws CursorExpired */
export async function changesAfter(remote: Remote, cursor: string, waitSeconds: number): Promise<{ changes: Change[]; next: string; more: boolean }> {
  const query = new URLSearchParams({ after: cursor, with_data: '1', limit: '1000', wait: String(waitSeconds) })
  const page = (await (await get(remote, `/changes?${query.toString()}`)).json()) as { data: Change[]; next: string; more?: boolean }
  // 0.2.0 has no `more`: there, only the end of the feed is empty.
  return { changes: page.data, next: page.next, more: page.more ?? page.data.length > 0 }
}

/** Streams the rows of a file. @throws Error at the end if it does not match the manifest */
export async function* dumpedRows<Row>(remote: Remote, { files }: Dump, table: string): AsyncIterable<Row> {
  const file = files.find(({ name }) => name.startsWith(`${table}-2`) && name.endsWith('.ndjson.gz'))
  if (!file) throw new Error(`The dump has no ${table}`)
  const response = await get(remote, `/dumps/${file.name}`)
  const { counted, check } = checked(file)
  const lines = createInterface({ input: Readable.fromWeb(response.body!).pipe(counted).pipe(createGunzip()), crlfDelay: Infinity })
  for await (const line of lines) yield JSON.parse(line) as Row
  check()
}

/** Counts and hashes the passing bytes. */
function checked({ name, bytes, sha256 }: DumpFile): { counted: Transform; check: () => void } {
  const hash = createHash('sha256')
  let size = 0
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk)
      size += chunk.length
      done(null, chunk)
    },
  })
  const check = () => {
    if (size !== bytes || hash.digest('hex') !== sha256) throw new Error(`${name} does not match its manifest`)
  }
  return { counted, check }
}

/** Retries while the service is unavailable. @throws Error with the service's message otherwise */
async function get({ url, key, onRetry }: Remote, path: string): Promise<Response> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
    const answered = await fetch(`${url}/api/v1${path}`, { headers: { authorization: `Bearer ${key}` } }).catch((error: Error) => error)
    if (answered instanceof Error) {
      onRetry?.(causeOf(answered))
      await delay(pauseMs)
      continue
    }
    if (answered.ok) return answered
    const { error } = ((await answered.json().catch(() => ({}))) ?? {}) as { error?: { code: string; message: string } }
    if (answered.status === 410) throw new CursorExpired(error?.message)
    if (answered.status !== 429 && answered.status < 500)
      throw new Error(`${url} responds with ${answered.status}: ${error?.message ?? answered.statusText}`)
    onRetry?.(`${answered.status} ${error?.message ?? answered.statusText}`)
    await delay(Number(answered.headers.get('retry-after')) * 1_000 || pauseMs)
  }
}

function causeOf(error: Error): string {
  return (error.cause as Error | undefined)?.message ?? error.message
}
