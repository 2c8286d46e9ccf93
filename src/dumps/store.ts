// Where dumps are kept: a folder on disk, which several nodes may share.
import { createReadStream } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { Dump } from './types.ts'

/** A file of a dump as it is sent. */
export interface StoredDumpFile {
  bytes: number
  body: Readable
}

export interface DumpStore {
  /** the newest dump, null before the first */
  latest(): Promise<Dump | null>
  /** null where no dump that is kept has a file of this name */
  open(name: string): Promise<StoredDumpFile | null>
  /** the folder in which the files of a dump are written before it is published */
  stage(stamp: string): string
  /** Makes what is staged the newest dump; older ones but the last are removed. */
  publish(stamp: string, dump: Dump): Promise<void>
}

/** Dumps that stay: who is downloading one when the next is made can end. */
const KEPT = 2
const MANIFEST = 'manifest.json'
const STAMP = /^\d{8}T\d{9}Z$/
const FILE = /^[a-z]+(?:-[a-z]+)*(?:-\d{4}-\d{2})?-(\d{8}T\d{9}Z)\.(?:ndjson\.gz|parquet)$/

/** Dumps in folders named by their moment, each with its manifest. */
export class DumpFolder implements DumpStore {
  readonly #path: string

  constructor(path: string) {
    this.#path = path
  }

  async latest(): Promise<Dump | null> {
    const [newest] = await this.#stamps()
    return newest === undefined ? null : (JSON.parse(await readFile(join(this.#path, newest, MANIFEST), 'utf8')) as Dump)
  }

  async open(name: string): Promise<StoredDumpFile | null> {
    const stamp = FILE.exec(name)?.[1]
    if (stamp === undefined) return null
    const path = join(this.#path, stamp, name)
    const found = await stat(path).catch(orMissing)
    return found ? { bytes: found.size, body: createReadStream(path) } : null
  }

  stage(stamp: string): string {
    return join(this.#path, `.${stamp}`)
  }

  async publish(stamp: string, dump: Dump): Promise<void> {
    const folder = this.stage(stamp)
    await writeFile(join(folder, MANIFEST), JSON.stringify(dump))
    await mkdir(this.#path, { recursive: true })
    await rename(folder, join(this.#path, stamp))
    for (const old of (await this.#stamps()).slice(KEPT)) await rm(join(this.#path, old), { recursive: true, force: true })
  }

  /** Newest first. */
  async #stamps(): Promise<string[]> {
    const names = (await readdir(this.#path).catch(orMissing)) ?? []
    return names
      .filter((name) => STAMP.test(name))
      .sort()
      .reverse()
  }
}

function orMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null
  throw error
}
