// Dumps in a folder on disk that several nodes may share.
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type DumpStore, isStamp, RETAINED_DUMPS, MANIFEST, stampOf, type StoredDumpFile } from './store.ts'
import type { Dump } from './types.ts'

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
    return found && { bytes: found.size, read: async (from, to) => (await open(path)).createReadStream({ start: from, end: to - 1 }) }
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

function orMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null
  throw error
}
