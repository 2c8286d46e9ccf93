// Dumps in a bucket of an S3-compatible store, which all nodes share: each dump's files below its moment, the manifest last.
import { openAsBlob } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { setTimeout as delay } from 'node:timers/promises'
import { S3mini, S3ServiceError } from 's3mini'
import type { BucketSettings } from '#config.ts'
import { ServiceError } from '#core/errors.ts'
import { reason } from '#core/problems.ts'
import { type DumpStore, isStamp, KEPT_DUMPS, MANIFEST, stampOf, type StoredDumpFile, type StoreProblem } from './store.ts'
import type { Dump } from './types.ts'

/** How long the store may take to begin an answer: to a read, and to a part that is sent to it. */
const ANSWER_MS = 10_000
const READ_ATTEMPTS = 3
const READ_AGAIN_MS = 200
const UPLOAD_MS = 300_000

/** Dumps below their moments in a bucket; the manifest of each comes last and goes first. */
export class DumpBucket implements DumpStore {
  readonly place: string
  readonly #bucket: S3mini
  readonly #prefix: string
  readonly #staging: string

  /** @param staging folder in which a dump is written before it is sent */
  constructor({ url, accessKey, secretKey, region }: BucketSettings, staging: string) {
    const { origin, pathname } = new URL(url)
    const [bucket, ...prefix] = pathname.slice(1).split('/')
    this.place = url
    this.#prefix = prefix.map((part) => `${decodeURIComponent(part)}/`).join('')
    this.#bucket = new S3mini({ endpoint: `${origin}/${bucket}`, accessKeyId: accessKey, secretAccessKey: secretKey, region, fetch: answered })
    this.#staging = staging
  }

  latest(): Promise<Dump | null> {
    return this.#ask(async () => {
      const [newest] = (await this.#entries()).published
      return newest === undefined ? null : this.#bucket.getObjectJSON<Dump>(this.#key(newest, MANIFEST))
    })
  }

  async open(name: string): Promise<StoredDumpFile | null> {
    const stamp = stampOf(name)
    if (stamp === null) return null
    const answer = await this.#ask(() => this.#bucket.getObjectResponse(this.#key(stamp, name)))
    if (!answer) return null
    return { bytes: Number(answer.headers.get('content-length')), body: Readable.fromWeb(answer.body as ReadableStream) }
  }

  stage(stamp: string): string {
    return join(this.#staging, `.${stamp}`)
  }

  publish(stamp: string, dump: Dump): Promise<void> {
    return this.#ask(async () => {
      for (const { name } of dump.files) await this.#bucket.putAnyObject(this.#key(stamp, name), await openAsBlob(join(this.stage(stamp), name)))
      await this.#bucket.putObject(this.#key(stamp, MANIFEST), JSON.stringify(dump), 'application/json')
      const { keys, published } = await this.#entries()
      const kept = published.slice(0, KEPT_DUMPS)
      // With those of a dump that broke off. A manifest goes before its files.
      const old = keys.filter((key) => !kept.includes(this.#stampOf(key)))
      for (const key of old.sort((a, b) => Number(b.endsWith(MANIFEST)) - Number(a.endsWith(MANIFEST)))) await this.#bucket.deleteObject(key)
    })
  }

  async problem(): Promise<StoreProblem | null> {
    try {
      await this.#entries()
      return null
    } catch (error) {
      return { message: whyOf(error), refused: error instanceof S3ServiceError && error.status < 500 && error.status !== 429 }
    }
  }

  #key(stamp: string, name: string): string {
    return `${this.#prefix}${stamp}/${name}`
  }

  #stampOf(key: string): string {
    return key.slice(this.#prefix.length).split('/', 1)[0]!
  }

  /** Everything that is kept below names of dumps, and the dumps that are whole, newest first. */
  async #entries(): Promise<{ keys: string[]; published: string[] }> {
    const listed = await this.#bucket.listObjects('/', this.#prefix)
    if (!listed) throw new S3ServiceError('The bucket does not exist', 404, 'NoSuchBucket')
    const keys = listed.map(({ Key }) => Key).filter((key) => isStamp(this.#stampOf(key)))
    const published = keys.filter((key) => key.endsWith(`/${MANIFEST}`)).map((key) => this.#stampOf(key))
    return { keys, published: published.sort().reverse() }
  }

  async #ask<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask()
    } catch (error) {
      const cause = new Error(`The dump store is unavailable: ${whyOf(error)}`, { cause: error })
      throw new ServiceError('UNAVAILABLE', reason('dump_store'), { headers: { 'retry-after': '30' }, cause })
    }
  }
}

/** A `fetch` that asks again where a read is answered 5xx, as clients of such stores do. */
async function answered(url: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const isRead = ['GET', 'HEAD'].includes(init.method ?? 'GET')
  for (let attempt = 1; ; attempt++) {
    const response = await answeredInTime(url, init)
    if (!isRead || response.status < 500 || attempt >= READ_ATTEMPTS) return response
    await response.body?.cancel()
    await delay(attempt * READ_AGAIN_MS)
  }
}

/** A `fetch` that breaks off where no answer begins; its body may take as long as its reader. */
async function answeredInTime(url: string | URL | Request, init: RequestInit): Promise<Response> {
  const stop = new AbortController()
  const ms = init.method === 'PUT' || init.method === 'POST' ? UPLOAD_MS : ANSWER_MS
  const timer = setTimeout(() => stop.abort(new Error(`no response within ${ms / 1_000} s`)), ms)
  try {
    return await fetch(url, { ...init, signal: stop.signal })
  } finally {
    clearTimeout(timer)
  }
}

/** What went wrong, for operators: without what the store sent as a body. */
function whyOf(error: unknown): string {
  if (error instanceof S3ServiceError) return `it answers ${error.status}${error.serviceCode ? ` ${error.serviceCode}` : ''}`
  let inner = error as Error
  while (inner.cause instanceof Error) inner = inner.cause
  return inner.message || (inner as NodeJS.ErrnoException).code || inner.name
}
