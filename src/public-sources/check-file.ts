// Checks a downloaded file: its checksum, its gzip data and that it is a whole JSON document.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { FeedError, gunzip } from '#core/files/feed.ts'
import { reason } from '#core/problems.ts'
import { DownloadFailure } from './failure.ts'
import type { SourceFile } from './sources.ts'

/** The largest known file has 0.7 GB. */
const MAX_UNPACKED_BYTES = 8 * 1024 * 1024 * 1024
const ENDS: Readonly<Record<string, string>> = { '{': '}', '[': ']' }
const END_BYTES = 64

/**
 * Reads the file once.
 * @param sha256 that the source publishes; null if it publishes none
 * @returns its SHA-256
 * @throws DownloadFailure if the file is wrong
 */
export async function checkFile(path: string, { url }: SourceFile, isGzip: boolean, sha256: string | null): Promise<string> {
  const hash = createHash('sha256')
  const read = async function* () {
    for await (const chunk of createReadStream(path, { highWaterMark: 256 * 1024 }) as AsyncIterable<Buffer>) {
      hash.update(chunk)
      yield chunk
    }
  }
  const document = await readEnds(isGzip ? gunzip(read()) : read(), url)
  const digest = hash.digest('hex')
  const isWrong = sha256 !== null && sha256 !== digest
  // Before other problems: they follow from wrong bytes.
  if (isWrong) throw new DownloadFailure(reason('source_checksum', { url }), { once: true })
  if (document !== null) throw document
  return digest
}

/** Reads everything, so that the checksum covers it; returns what is wrong with the document. */
async function readEnds(bytes: AsyncIterable<Uint8Array>, url: string): Promise<DownloadFailure | null> {
  let first = Buffer.alloc(0)
  let last = Buffer.alloc(0)
  let size = 0
  try {
    for await (const chunk of bytes) {
      size += chunk.length
      if (size > MAX_UNPACKED_BYTES) return new DownloadFailure(reason('source_size', { url, max: MAX_UNPACKED_BYTES }))
      if (first.length < END_BYTES) first = Buffer.concat([first, chunk.subarray(0, END_BYTES)])
      last = Buffer.concat([last, chunk.subarray(-END_BYTES)]).subarray(-END_BYTES)
    }
  } catch (error) {
    if (error instanceof FeedError) return new DownloadFailure(error.why, { once: true }, error)
    throw error
  }
  const start = first
    .toString('utf8')
    .replace(/^\ufeff/, '')
    .trimStart()
  const end = ENDS[start.slice(0, 1)]
  if (end === undefined) return new DownloadFailure(reason('source_json', { url }))
  return last.toString('utf8').trimEnd().endsWith(end) ? null : new DownloadFailure(reason('source_cut_off', { url }), { once: true })
}
