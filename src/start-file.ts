// The start file in DATA_DIR: the data that a node has in memory and its position in the change log, so that the next start is fast.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, rename, rm, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { type Timer, machineMs, monotonicMs, newId, startTimer, stopTimer } from '#core/process/time-and-chance.ts'
import type { Log } from '#core/context.ts'
import { HOUR_MS } from '#core/duration.ts'
import type { ChangeFeed, FeedPlace } from '#db/changes/change-feed.ts'
import { databaseIdentity, startFileProblem, type FileOrigin, setStartMark } from '#db/changes/start-file-origin.ts'
import type { Db } from '#db/schema.ts'
import { type Part, partsOf, type ReadPart, readParts } from '#index/stored.ts'
import type { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import type { ListingSnapshot } from '#market/snapshot/listings.ts'

const NAME = 'start.columns'
/** A file that is being written; one left behind is deleted after an hour. */
const DRAFT = /^start\.[0-9a-f-]{36}\.part$/
/** Version of the file's layout. The content of the parts depends on the program (see `programHash`). */
const FORM = 1

// The file ends with the table of its parts, the checksum and the length of the table, and this marker.
const END = Buffer.from('mintmark')
const TAIL_BYTES = 8 + END.length

const TOO_SLOW = 'it takes too long'
const BATCH_BYTES = 1024 * 1024
const READ_BYTES = 4 * 1024 * 1024
/** How long the writer runs before it yields to the event loop. */
const SLICE_MS = 2

/** Maximum share of the free disk space that the file may take: a database may use the same disk. */
const MAX_SHARE_OF_FREE = 0.5

/** Sources that determine what the columns contain: a file written by other sources is not used. */
const PROGRAM = ['core', 'index', '../games', 'games', 'prices', 'catalogue', 'market/records', 'market/snapshot', 'start-file.ts']

interface Contents extends FileOrigin {
  form: number
  program: string
  parts: { type: string; lengths: number[]; bytes: number; crc: number }[]
}

export interface StartFileOptions {
  dataDir: string
  db: Db
  log: Log
  feed: ChangeFeed
  catalogue: Catalogue
  listings: ListingSnapshot
  /** settings that columns depend on */
  settings: () => object
}

/** Reads and writes the start file; several nodes with the same DATA_DIR share it. */
export class StartFile {
  readonly #options: StartFileOptions
  readonly #path: string
  /** hashes by the settings: of everything besides the database that determines the columns */
  readonly #programs = new Map<string, string>()

  constructor(options: StartFileOptions) {
    this.#options = options
    this.#path = join(options.dataDir, NAME)
  }

  get #program(): string {
    const settings = JSON.stringify(this.#options.settings())
    const hash = this.#programs.get(settings) ?? programHash(settings)
    this.#programs.set(settings, hash)
    return hash
  }

  /**
   * Loads the file if it exists and is valid; an invalid file is deleted and the reason logged. The next pull of the change feed
   * then applies all changes since the file was written.
   * @returns whether it was loaded
   */
  async read(): Promise<boolean> {
    const { log, feed, db, catalogue, listings } = this.#options
    const startedMs = monotonicMs()
    let handle: FileHandle | null = null
    try {
      handle = await open(this.#path)
      const { contents, bytes } = await readContents(handle)
      if (contents.program !== this.#program) throw new StartFileError('it was written by another version or with other settings')
      const doubt = await startFileProblem(db, contents)
      if (doubt !== null) throw new StartFileError(doubt)
      const parts = await readAll(handle, contents)
      const { columns, end } = readParts(parts)
      await catalogue.restore(columns)
      listings.restore(columns)
      end()
      feed.resume(contents)
      log.info({ mb: Math.round(bytes / 1e6), ms: Math.round(monotonicMs() - startedMs) }, 'Loaded the start file')
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
      const why = error instanceof StartFileError ? error.message : `it cannot be read (${(error as Error).message})`
      log.warn({}, `Discarding the start file: ${why}; loading from the database`)
      await rm(this.#path, { force: true }).catch(() => {})
      return false
    } finally {
      await handle?.close()
    }
  }

  /**
   * Writes the file, unless a node wrote one within `unlessWithinMs`. Meanwhile requests are served, but changes are not applied.
   * @param maxLockedMs maximum time to block writes; a slower write of the file is abandoned
   */
  async write({ unlessWithinMs, maxLockedMs }: { unlessWithinMs: number; maxLockedMs: number }): Promise<void> {
    const { dataDir, db, log } = this.#options
    if (machineMs() - (await modifiedMs(this.#path)) < unlessWithinMs) return
    await mkdir(dataDir, { recursive: true, mode: 0o700 })
    await removeOldDrafts(dataDir)
    const mark = newId()
    const draft = join(dataDir, `start.${mark}.part`)
    const startedMs = monotonicMs()
    try {
      const identity = await databaseIdentity(db.kysely)
      const handle = await open(draft, 'wx', 0o600)
      let written: { bytes: number; heldMs: number }
      try {
        const mostBytes = (await freeBytes(dataDir)) * MAX_SHARE_OF_FREE
        written = await this.#writeTo(handle, { form: FORM, program: this.#program, ...identity, mark }, { mostBytes, maxLockedMs })
        // The mark is set after the position is taken: a database that has the mark also has every change before the position.
        await setStartMark(db, mark)
        await handle.sync()
      } finally {
        await handle.close()
      }
      await rename(draft, this.#path)
      await syncDirectory(dataDir)
      const { bytes, heldMs } = written
      const ms = monotonicMs() - startedMs
      log.info({ mb: Math.round(bytes / 1e6), heldMs: Math.round(heldMs), ms: Math.round(ms) }, 'Wrote the start file')
    } catch (error) {
      await rm(draft, { force: true }).catch(() => {})
      if (!(error instanceof StartFileError)) throw error
      log.warn({}, `Failed to write the start file: ${error.message}`)
    }
  }

  /** Writes all parts as of one position of the change feed. */
  #writeTo(handle: FileHandle, about: Omit<Contents, keyof FeedPlace | 'parts'>, limits: Limits): Promise<{ bytes: number; heldMs: number }> {
    const { feed, catalogue, listings } = this.#options
    const writeAt = async (place: FeedPlace) => {
      const startedMs = monotonicMs()
      const parts = partsOf((columns) => {
        catalogue.store(columns)
        listings.store(columns)
      })
      // A write that is blocked by the disk cannot be cancelled, so stop waiting for it.
      const bytes = await within(limits.maxLockedMs, writeParts(handle, { ...about, ...place }, parts, limits))
      return { bytes, heldMs: monotonicMs() - startedMs }
    }
    return feed.between((place) => catalogue.freeze(() => listings.freeze(() => writeAt(place))))
  }
}

interface Limits {
  mostBytes: number
  maxLockedMs: number
}

/** @returns how many bytes were written */
async function writeParts(
  handle: FileHandle,
  about: Omit<Contents, 'parts'>,
  parts: readonly Part[],
  { mostBytes, maxLockedMs }: Limits,
): Promise<number> {
  const endMs = monotonicMs() + maxLockedMs
  const out = new Output(handle)
  const written: Contents['parts'] = []
  for (const { type, lengths, pieces } of parts) {
    let crc = 0
    const from = out.bytes
    for (const piece of pieces()) {
      crc = crc32(piece, crc)
      await out.add(piece)
      if (out.bytes > mostBytes) throw new StartFileError('the disk has too little free space')
      if (monotonicMs() > endMs) throw new StartFileError(TOO_SLOW)
    }
    written.push({ type, lengths, bytes: out.bytes - from, crc })
  }
  const table = Buffer.from(JSON.stringify({ ...about, parts: written } satisfies Contents))
  const tail = Buffer.alloc(TAIL_BYTES - END.length)
  tail.writeUInt32LE(crc32(table), 0)
  tail.writeUInt32LE(table.length, 4)
  for (const piece of [table, tail, END]) await out.add(piece)
  await out.flush()
  return out.bytes
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  if (ms === Infinity) return work
  let timer: Timer | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = startTimer(() => reject(new StartFileError(TOO_SLOW)), ms)
  })
  return Promise.race([work, late]).finally(() => stopTimer(timer))
}

/** Why a file cannot be used or written, as text for the log. */
class StartFileError extends Error {
  override name = 'StartFileError'
}

/** Writes pieces in batches: the next batch is filled while the previous one is written. */
class Output {
  readonly #handle: FileHandle
  bytes = 0
  #batch: Uint8Array[] = []
  #batchBytes = 0
  #underWay: Promise<unknown> = Promise.resolve()
  #sinceMs = monotonicMs()

  constructor(handle: FileHandle) {
    this.#handle = handle
  }

  async add(piece: Uint8Array): Promise<void> {
    this.#batch.push(piece)
    this.#batchBytes += piece.length
    this.bytes += piece.length
    if (this.#batchBytes >= BATCH_BYTES) await this.#send()
    if (monotonicMs() - this.#sinceMs < SLICE_MS) return
    await new Promise((resolve) => setImmediate(resolve))
    this.#sinceMs = monotonicMs()
  }

  async flush(): Promise<void> {
    await this.#send()
    await this.#underWay
  }

  async #send(): Promise<void> {
    const [batch, bytes] = [this.#batch, this.#batchBytes]
    this.#batch = []
    this.#batchBytes = 0
    await this.#underWay
    if (bytes === 0) return
    this.#underWay = this.#handle.writev(batch).then(({ bytesWritten }) => {
      if (bytesWritten !== bytes) throw new StartFileError('the disk took only a part of it')
    })
    // The error is thrown when the next batch is sent.
    this.#underWay.catch(() => {})
  }
}

async function readContents(handle: FileHandle): Promise<{ contents: Contents; bytes: number }> {
  const { size } = await handle.stat()
  const tail = await readAt(handle, Math.max(0, size - TAIL_BYTES), Math.min(size, TAIL_BYTES))
  const view = Buffer.from(tail.buffer)
  if (size < TAIL_BYTES || view.compare(END, 0, END.length, 8) !== 0) throw new StartFileError('it is not complete')
  const length = view.readUInt32LE(4)
  const tableAt = size - TAIL_BYTES - length
  if (length === 0 || tableAt < 0) throw new StartFileError('it is damaged')
  const table = await readAt(handle, tableAt, length)
  if (crc32(table) !== view.readUInt32LE(0)) throw new StartFileError('it is damaged')
  const contents = JSON.parse(Buffer.from(table.buffer).toString()) as Contents
  if (contents.form !== FORM) throw new StartFileError('it was written by another version or with other settings')
  if (contents.parts.reduce((sum, part) => sum + part.bytes, 0) !== tableAt) throw new StartFileError('it is damaged')
  return { contents, bytes: size }
}

/** Reads all parts; the checksum of each part is verified before its content is used. */
async function readAll(handle: FileHandle, { parts }: Contents): Promise<ReadPart[]> {
  const read: ReadPart[] = []
  let at = 0
  for (const { type, lengths, bytes: length, crc } of parts) {
    const bytes = await readAt(handle, at, length)
    let sum = 0
    for (let from = 0; from < length; from += READ_BYTES) sum = crc32(bytes.subarray(from, from + READ_BYTES), sum)
    if (sum !== crc) throw new StartFileError('it is damaged')
    read.push({ type, lengths, bytes })
    at += length
  }
  return read
}

async function readAt(handle: FileHandle, at: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(length)
  for (let done = 0; done < length; ) {
    const { bytesRead } = await handle.read(bytes, done, Math.min(READ_BYTES, length - done), at + done)
    if (bytesRead === 0) throw new StartFileError('it is not complete')
    done += bytesRead
  }
  return bytes
}

/** Time of a file's last modification in epoch milliseconds; 0 if it does not exist. */
async function modifiedMs(path: string): Promise<number> {
  return (await stat(path).catch(() => null))?.mtimeMs ?? 0
}

async function freeBytes(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory)
  return bavail * bsize
}

/** Deletes unfinished files of processes that were killed. */
async function removeOldDrafts(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const path = join(directory, name)
    if (DRAFT.test(name) && machineMs() - (await modifiedMs(path)) > HOUR_MS) await rm(path, { force: true })
  }
}

async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path)
  await handle.sync().finally(() => handle.close())
}

/** A hash of the sources, the runtime and the settings: another version may encode columns differently. */
function programHash(settings: string): string {
  const hash = createHash('sha256').update(`${process.version} ${process.arch} ${settings}`)
  for (const source of PROGRAM) {
    const path = join(import.meta.dirname, source)
    const files = source.endsWith('.ts') ? [path] : readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    const paths = files.map((file) => (typeof file === 'string' ? file : join(file.parentPath, file.name))).sort()
    for (const file of paths) hash.update(file.slice(import.meta.dirname.length)).update(readFileSync(file))
  }
  return hash.digest('base64url')
}
