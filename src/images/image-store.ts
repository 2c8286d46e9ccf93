// Images as files in DATA_DIR: written atomically, indexed again after a restart, least recently used ones removed first.
import { createHash, hash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, rename, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { newId } from '#core/process/time-and-chance.ts'
import { Cache } from '#core/cache.ts'
import type { Log } from '#core/context.ts'
import { HOUR_MS, MINUTE_MS } from '#core/duration.ts'
import { type FetchedImage, IMAGE_TYPES } from './fetch-image.ts'

export interface StoredImage {
  /** `<key>.<tag>.<extension>` in the folder of the store */
  file: string
  /** hash of the content, the same on every node */
  tag: string
  type: string
  bytes: number
  fetchedMs: number
  usedMs: number
}

/** An image with its open file. The caller closes the file, which stays readable after the store removes it. */
export interface OpenImage extends StoredImage {
  handle: FileHandle
}

const FILE = /^([0-9a-f]{32})\.([0-9a-f]{16})\.([a-z]{3,4})$/
const FOLDER = { recursive: true, mode: 0o700 }
const UNFINISHED = 'new-'
/** Longer than any write: an older unfinished file was left by a crash. */
const UNFINISHED_MS = 10 * MINUTE_MS
/** Precision of the recorded time of last use. */
const USE_MS = HOUR_MS
const TYPE_OF = new Map(Object.entries(IMAGE_TYPES).map(([type, extension]) => [extension, type]))

/** The storage key of an image: a hash of its address that is valid in file names. */
export function imageKey(url: string): string {
  return hash('sha256', url).slice(0, 32)
}

export class ImageStore {
  readonly #folder: string
  readonly #log: Log
  readonly #now: () => Date
  readonly #images: Cache<string, StoredImage>
  readonly #found: Promise<void>

  /** @throws Error if the folder cannot be created */
  constructor(folder: string, largestBytes: number, log: Log, now: () => Date) {
    this.#folder = folder
    this.#log = log
    this.#now = now
    this.#images = new Cache<string, StoredImage>({
      limit: largestBytes,
      weigh: ({ bytes }) => bytes,
      byLastUse: true,
      onRemoved: ({ file }, key) => {
        if (this.#images.get(key)?.file !== file) this.#remove(file)
      },
    })
    mkdirSync(folder, FOLDER)
    this.#found = this.#find().catch((error: unknown) => log.warn({ err: error }, 'Failed to read the image cache; starting with an empty one'))
  }

  /** Total bytes of all images. */
  get bytes(): number {
    return this.#images.weight
  }

  /** Opens the image of a key; null if there is none. */
  async open(key: string): Promise<OpenImage | null> {
    await this.#found
    const image = this.#images.get(key)
    if (!image) return null
    try {
      const handle = await open(join(this.#folder, image.file))
      this.#noteUse(image)
      return { ...image, handle }
    } catch (error) {
      // Deleted manually, or by another process with the same DATA_DIR.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      this.#images.delete(key)
      return null
    }
  }

  /** Stores an image, replacing an earlier one of its key; an incomplete body stores nothing. */
  async put(key: string, { type, body }: FetchedImage): Promise<void> {
    const unfinished = join(this.#folder, `${UNFINISHED}${newId()}`)
    try {
      await mkdir(this.#folder, FOLDER)
      const content = createHash('sha256')
      let bytes = 0
      const counted = async function* () {
        for await (const chunk of body) {
          content.update(chunk)
          bytes += chunk.length
          yield chunk
        }
      }
      // Opened first: a stream that fails early would otherwise create its file after the cleanup.
      const handle = await open(unfinished, 'wx', 0o600)
      try {
        await handle.writeFile(counted())
        await handle.sync()
      } finally {
        await handle.close()
      }
      const now = this.#now()
      await utimes(unfinished, now, now)
      const tag = content.digest('hex').slice(0, 16)
      const file = `${key}.${tag}.${IMAGE_TYPES[type]!}`
      await rename(unfinished, join(this.#folder, file))
      this.#images.set(key, { file, tag, type, bytes, fetchedMs: now.getTime(), usedMs: now.getTime() })
    } catch (error) {
      await rm(unfinished, { force: true })
      throw error
    }
  }

  /** Indexes the images of earlier runs; a file's access time is its last use, its modification time the time of fetching. */
  async #find(): Promise<void> {
    const images: [string, StoredImage][] = []
    for (const file of await readdir(this.#folder)) {
      const [, key, tag, extension] = FILE.exec(file) ?? []
      const type = TYPE_OF.get(extension ?? '')
      if (type === undefined && !file.startsWith(UNFINISHED)) continue
      const { size, mtimeMs, atimeMs } = await stat(join(this.#folder, file))
      if (type !== undefined && size > 0) images.push([key!, { file, tag: tag!, type, bytes: size, fetchedMs: mtimeMs, usedMs: atimeMs }])
      else if (type !== undefined || this.#now().getTime() - mtimeMs > UNFINISHED_MS) this.#remove(file)
    }
    images.sort(([, a], [, b]) => a.usedMs - b.usedMs)
    for (const [key, image] of images) this.#images.set(key, image)
  }

  #noteUse(image: StoredImage): void {
    const now = this.#now()
    if (now.getTime() - image.usedMs < USE_MS) return
    image.usedMs = now.getTime()
    // Only affects which images are removed first after a restart.
    utimes(join(this.#folder, image.file), now, new Date(image.fetchedMs)).catch(() => {})
  }

  #remove(file: string): void {
    rm(join(this.#folder, file), { force: true }).catch((error: unknown) =>
      this.#log.warn({ err: error, file }, 'Failed to remove an image from the cache'),
    )
  }
}
