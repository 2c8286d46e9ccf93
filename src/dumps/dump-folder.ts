// Dumps in a folder on disk that several nodes may share.
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Readable } from 'node:stream'
import { notFound } from '#core/errors.ts'
import { type DumpStore, isStamp, RETAINED_DUMPS, MANIFEST, stampOf, type StoredDumpFile } from './dump-store.ts'
import type { Dump } from './dump-types.ts'

/** Dumps in folders named by their time, each with its manifest. */
export class DumpFolder implements DumpStore {
  readonly #path: string

  constructor(path: string) {
    this.#path = path
  }

  get place(): string {
    return this.#path
  }

  /** The folder is created with the first dump. */
  async problem(): Promise<null> {
    return null
  }

  async latest(): Promise<Dump | null> {
    const [newest] = await this.#stamps()
    return newest === undefined ? null : (JSON.parse(await readFile(join(this.#path, newest, MANIFEST), 'utf8')) as Dump)
  }

  async open(name: string): Promise<StoredDumpFile | null> {
    const stamp = stampOf(name)
    if (stamp === null) return null
    const path = join(this.#path, stamp, name)
    const found = await stat(path).catch(orMissing)
    return found && { bytes: found.size, read: (from, to) => partOf(path, from, to) }
  }

  stage(stamp: string): string {
    return join(this.#path, `.${stamp}`)
  }

  async publish(stamp: string, dump: Dump): Promise<void> {
    const folder = this.stage(stamp)
    await writeFile(join(folder, MANIFEST), JSON.stringify(dump))
    await mkdir(this.#path, { recursive: true })
    await rename(folder, join(this.#path, stamp))
    for (const old of (await this.#stamps()).slice(RETAINED_DUMPS)) await rm(join(this.#path, old), { recursive: true, force: true })
  }

  /** Newest first. */
  async #stamps(): Promise<string[]> {
    const names = (await readdir(this.#path).catch(orMissing)) ?? []
    return names.filter(isStamp).sort().reverse()
  }
}

/** @throws NOT_FOUND (rejects with it) if a newer dump has replaced this one meanwhile */
async function partOf(path: string, from: number, to: number): Promise<Readable> {
  const file = await open(path).catch(orMissing)
  if (!file) throw notFound('not_found', { thing: 'file', id: basename(path) })
  return file.createReadStream({ start: from, end: to - 1 })
}

function orMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null
  throw error
}
