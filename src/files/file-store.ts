// Files that are written once and read in parts: in a folder, or in a bucket of an S3-compatible store.
import { openAsBlob } from 'node:fs'
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { S3mini } from 's3mini'
import { newId } from '#core/process/time-and-chance.ts'
import type { BucketSettings } from '#core/files/bucket-settings.ts'
import { openBucket } from './bucket.ts'

export interface FileStore {
  /** folder or address, for operators */
  readonly place: string
  /** Returns a unique path for writing a file before it is stored, and creates its folder. */
  stage(): Promise<string>
  /** Stores a staged file under this name; durable once this resolves. */
  store(staged: string, name: string): Promise<void>
  /** Size of a file in bytes; null if it does not exist. */
  size(name: string): Promise<number | null>
  /** Bytes of the range [from, to). */
  read(name: string, from: number, to: number): Promise<ArrayBuffer>
  /** A whole file, for small ones; null if it does not exist. */
  readAll(name: string): Promise<Buffer | null>
  remove(name: string): Promise<void>
}

/** Opens a folder on disk, or a folder of the bucket if there is one; the disk is then used only for staging. */
export function openFileStore(folder: string, bucket: BucketSettings | null, nameInBucket: string): FileStore {
  return bucket ? new StoreBucket(bucket, nameInBucket, folder) : new StoreFolder(folder)
}

class StoreFolder implements FileStore {
  readonly place: string

  constructor(place: string) {
    this.place = place
  }

  stage(): Promise<string> {
    return stageIn(this.place)
  }

  async store(staged: string, name: string): Promise<void> {
    await flushed(staged)
    await rename(staged, join(this.place, name))
    await flushed(this.place)
  }

  async size(name: string): Promise<number | null> {
    const found = await stat(join(this.place, name)).catch(nullIfMissing)
    return found?.size ?? null
  }

  async read(name: string, from: number, to: number): Promise<ArrayBuffer> {
    const file = await open(join(this.place, name))
    try {
      const bytes = new ArrayBuffer(to - from)
      const { bytesRead } = await file.read(new Uint8Array(bytes), 0, to - from, from)
      if (bytesRead !== to - from) throw new Error(`${name} ends before ${to}`)
      return bytes
    } finally {
      await file.close()
    }
  }

  async readAll(name: string): Promise<Buffer | null> {
    return readFile(join(this.place, name)).catch(nullIfMissing)
  }

  async remove(name: string): Promise<void> {
    await rm(join(this.place, name), { force: true })
  }
}

function nullIfMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null
  throw error
}

async function stageIn(folder: string): Promise<string> {
  const first = await mkdir(folder, { recursive: true })
  // A new folder is durable only once its parents are.
  for (let at = folder; first !== undefined && at.length >= first.length; at = dirname(at)) await flushed(dirname(at))
  return join(folder, `.${newId()}`)
}

async function flushed(path: string): Promise<void> {
  const file = await open(path)
  await file.sync().finally(() => file.close())
}

class StoreBucket implements FileStore {
  readonly place: string
  readonly #bucket: S3mini
  readonly #prefix: string
  readonly #staging: string

  constructor(settings: BucketSettings, name: string, staging: string) {
    const { bucket, prefix } = openBucket(settings)
    this.place = `${settings.url}/${name}`
    this.#bucket = bucket
    this.#prefix = `${prefix}${name}/`
    this.#staging = staging
  }

  stage(): Promise<string> {
    return stageIn(this.#staging)
  }

  async store(staged: string, name: string): Promise<void> {
    await this.#bucket.putAnyObject(this.#prefix + name, await openAsBlob(staged))
    await rm(staged)
  }

  async size(name: string): Promise<number | null> {
    return (await this.#bucket.objectExists(this.#prefix + name)) ? this.#bucket.getContentLength(this.#prefix + name) : null
  }

  async read(name: string, from: number, to: number): Promise<ArrayBuffer> {
    return (await this.#bucket.getObjectRaw(this.#prefix + name, false, from, to)).arrayBuffer()
  }

  async readAll(name: string): Promise<Buffer | null> {
    const bytes = await this.#bucket.getObjectArrayBuffer(this.#prefix + name)
    return bytes && Buffer.from(bytes)
  }

  async remove(name: string): Promise<void> {
    await this.#bucket.deleteObject(this.#prefix + name)
  }
}
