// Dumps in a bucket of an S3-compatible store that all nodes share: a folder per dump, named by its time, with a manifest.
import { openAsBlob } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { type S3mini, S3ServiceError } from 's3mini'
import type { BucketSettings } from '#core/files/bucket-settings.ts'
import { ServiceError } from '#core/errors.ts'
import { reason, textOf } from '#core/problems.ts'
import { openBucket, whyOf } from '#files/bucket.ts'
import { type DumpStore, isStamp, RETAINED_DUMPS, MANIFEST, stampOf, type StoredDumpFile, type StoreProblem } from './dump-store.ts'
import type { Dump } from './dump-types.ts'

/** Dumps in folders of a bucket, named by their times. Each manifest is written last and deleted first. */
export class DumpBucket implements DumpStore {
  readonly place: string
  readonly #bucket: S3mini
  readonly #prefix: string
  readonly #staging: string

  /** @param staging folder in which a dump is written before it is uploaded */
  constructor(settings: BucketSettings, staging: string) {
    const { bucket, prefix } = openBucket(settings)
    this.place = settings.url
    this.#prefix = prefix
    this.#bucket = bucket
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
    const key = this.#key(stamp, name)
    if (!(await this.#ask(() => this.#bucket.objectExists(key)))) return null
    const bytes = await this.#ask(() => this.#bucket.getContentLength(key))
    const read = async (from: number, to: number) => {
      const { body } = await this.#ask(() => this.#bucket.getObjectRaw(key, false, from, to))
      return Readable.fromWeb(body as ReadableStream)
    }
    return { bytes, read }
  }

  stage(stamp: string): string {
    return join(this.#staging, `.${stamp}`)
  }

  publish(stamp: string, dump: Dump): Promise<void> {
    return this.#ask(async () => {
      for (const { name } of dump.files) await this.#bucket.putAnyObject(this.#key(stamp, name), await openAsBlob(join(this.stage(stamp), name)))
      await this.#bucket.putObject(this.#key(stamp, MANIFEST), JSON.stringify(dump), 'application/json')
      const { keys, published } = await this.#entries()
      const retained = published.slice(0, RETAINED_DUMPS)
      // Includes incomplete dumps. Manifests are deleted before their files.
      const old = keys.filter((key) => !retained.includes(this.#stampOf(key)))
      for (const key of old.sort((a, b) => Number(b.endsWith(MANIFEST)) - Number(a.endsWith(MANIFEST)))) await this.#bucket.deleteObject(key)
    })
  }

  async problem(): Promise<StoreProblem | null> {
    try {
      await this.#entries()
      return null
    } catch (error) {
      return { why: whyOf(error), refused: error instanceof S3ServiceError && error.status < 500 && error.status !== 429 }
    }
  }

  #key(stamp: string, name: string): string {
    return `${this.#prefix}${stamp}/${name}`
  }

  #stampOf(key: string): string {
    return key.slice(this.#prefix.length).split('/', 1)[0]!
  }

  /** All keys in folders of dumps, and the complete dumps, newest first. */
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
      const cause = new Error(`The dump store is unavailable: ${textOf(whyOf(error))}`, { cause: error })
      throw new ServiceError('UNAVAILABLE', reason('dump_store'), { headers: { 'retry-after': '30' }, cause })
    }
  }
}
