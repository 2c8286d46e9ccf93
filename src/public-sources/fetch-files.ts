// Downloads all files of a source into its folder, and lists what an import of it reads.
import { createReadStream } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { DAY_MS } from '#core/duration.ts'
import { gunzip } from '#core/files/feed.ts'
import { reason } from '#core/problems.ts'
import { DOWNLOAD_LIMITS, type DownloadLimits, downloadFile, type FetchedFile, PART, PART_STATE } from './download-file.ts'
import { DownloadFailure } from './failure.ts'
import { openSourceClient, type SourceNetwork } from './source-client.ts'
import type { PublicSource, SourceFile } from './sources.ts'

export interface FetchProgress {
  /** the file that is being downloaded */
  file: string | null
  files_done: number
  /** 0 until they are known */
  files_total: number
  /** bytes of the current file */
  bytes: number
  /** null if the source does not state it */
  bytes_total: number | null
}

export interface FetchFilesOptions {
  /** parent of the folders of all sources */
  folder: string
  network: SourceNetwork
  now: () => Date
  signal: AbortSignal
  onProgress: (progress: FetchProgress) => void
  limits?: DownloadLimits
  /** download files that have not changed, too */
  again?: boolean
  /** least time between two requests */
  pauseMs?: number
}

/** A file for the import. */
export interface ImportedFile {
  path: string
  name: string
  size: number
}

const PAUSE_MS = 250
const MAX_FILES = 2_000
const MAX_DOCUMENT_BYTES = 64 * 1024 * 1024
/** Records what is in the folder of a source, and where it came from. */
const RECORD = 'fetched.json'
const FILE_NAME = /^[\w.!-]{1,100}$/

interface Record {
  source: string
  licence: string
  terms: string
  files: FetchedFile[]
}

/** @throws DownloadFailure */
export async function fetchFiles(source: PublicSource, options: FetchFilesOptions): Promise<{ files: FetchedFile[]; imported: ImportedFile[] }> {
  const { network, now, signal, onProgress, limits = DOWNLOAD_LIMITS, again = false, pauseMs = PAUSE_MS } = options
  const folder = join(options.folder, source.name)
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    throw new DownloadFailure(reason('source_folder', { path: folder, cause: error.code ?? error.message }), null, error)
  })
  const known = new Map((await readRecord(folder)).map((file) => [file.name, file]))
  const client = openSourceClient(network, pauseMs)
  const files: FetchedFile[] = []
  const progress: FetchProgress = { file: null, files_done: 0, files_total: 0, bytes: 0, bytes_total: null }
  const download = async (file: SourceFile) => {
    Object.assign(progress, { file: file.name, bytes: 0, bytes_total: null })
    onProgress({ ...progress })
    const onBytes = (bytes: number, total: number | null) => onProgress(Object.assign(progress, { bytes, bytes_total: total }))
    const fetched = await downloadFile(file, again ? null : (known.get(file.name) ?? null), { folder, client, limits, now, signal, onBytes })
    known.set(file.name, fetched)
    files.push(fetched)
    progress.files_done += 1
    // After each file, so that one interrupted now need not be downloaded again.
    await writeRecord(folder, source, [...known.values()])
    return fetched
  }
  try {
    const { index } = source
    const listed = index ? checkedFiles(index.filesOf(await readDocument(folder, await download(index))), index.url) : source.files
    const wanted = [...listed]
    progress.files_total = listed.length + files.length
    for (const [place, file] of wanted.entries()) {
      const fetched = await download(file)
      if (!file.more) continue
      const more = checkedFiles(file.more(await readDocument(folder, fetched)), file.url)
      wanted.splice(place + 1, 0, ...more)
      checkedFiles(wanted, file.url)
      progress.files_total += more.length
    }
  } finally {
    await client.close()
  }
  await writeRecord(folder, source, files)
  const imported = await importedFiles(source, folder, files)
  await sweep(folder, new Set([RECORD, ...files.map(({ stored }) => stored), ...imported.map(({ path }) => basename(path))]))
  return { files, imported }
}

/** Names become names on disk, and URLs are those of a document of the source. */
function checkedFiles(files: SourceFile[] | null, url: string): SourceFile[] {
  const isFine = ({ name, url: of }: SourceFile) =>
    FILE_NAME.test(name) && !name.startsWith('.') && URL.canParse(of) && new URL(of).protocol === 'https:' && new URL(of).username === ''
  if (files && files.length <= MAX_FILES && files.every(isFine) && new Set(files.map(({ name }) => name)).size === files.length) return files
  throw new DownloadFailure(reason('source_index', { url }))
}

async function importedFiles({ index, openRows }: PublicSource, folder: string, files: FetchedFile[]): Promise<ImportedFile[]> {
  const imported: ImportedFile[] = []
  const rowsOf = openRows?.()
  for (const file of files) {
    if (file.name === index?.name && !index.isImported) continue
    const stored = rowsOf ? `${file.name.replace(/\.json$/, '')}.ndjson` : file.stored
    const path = join(folder, stored)
    if (rowsOf) {
      const rows = rowsOf(await readDocument(folder, file))
      if (!rows) throw new DownloadFailure(reason('source_index', { url: file.url }))
      if (rows.length === 0) continue
      await writeFile(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
    }
    imported.push({ path, name: stored, size: (await stat(path)).size })
  }
  return imported
}

/** A whole document in memory: for lists of files and small ones of rows. */
async function readDocument(folder: string, { stored, url }: FetchedFile): Promise<unknown> {
  const bytes = createReadStream(join(folder, stored))
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of stored.endsWith('.gz') ? gunzip(bytes) : (bytes as AsyncIterable<Buffer>)) {
    size += chunk.length
    if (size > MAX_DOCUMENT_BYTES) throw new DownloadFailure(reason('source_size', { url, max: MAX_DOCUMENT_BYTES }))
    chunks.push(chunk)
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'))
  } catch (error) {
    // So that the next fetch does not take it for unchanged.
    await rm(join(folder, stored), { force: true })
    throw new DownloadFailure(reason('source_json', { url }), null, error)
  }
}

async function readRecord(folder: string): Promise<FetchedFile[]> {
  try {
    return (JSON.parse(await readFile(join(folder, RECORD), 'utf8')) as Record).files
  } catch {
    return []
  }
}

async function writeRecord(folder: string, { name, licence, termsUrl }: PublicSource, files: FetchedFile[]): Promise<void> {
  const record: Record = { source: name, licence, terms: termsUrl, files }
  await writeFile(join(folder, `${RECORD}.new`), `${JSON.stringify(record, null, 2)}\n`)
  await rename(join(folder, `${RECORD}.new`), join(folder, RECORD))
}

/** Removes files that the source no longer has, and parts of earlier downloads. */
async function sweep(folder: string, wanted: ReadonlySet<string>): Promise<void> {
  for (const name of await readdir(folder)) if (!wanted.has(name)) await rm(join(folder, name), { force: true })
}

const ABANDONED_MS = 7 * DAY_MS

/** Removes parts of downloads that nobody has resumed for a week, of all sources. */
export async function removeAbandoned(folder: string, now: Date): Promise<void> {
  const names = await readdir(folder, { recursive: true }).catch(() => [])
  for (const name of names) {
    if (!name.endsWith(PART) && !name.endsWith(PART_STATE)) continue
    const path = join(folder, name)
    const found = await stat(path).catch(() => null)
    if (found && found.mtimeMs < now.getTime() - ABANDONED_MS) await rm(path, { force: true })
  }
}
