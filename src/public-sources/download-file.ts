// Downloads one file of a source: only if it has changed, resuming an earlier attempt, and within limits of size, time and disk.
import { type FileHandle, open, readFile, rename, rm, stat, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Dispatcher } from 'undici'
import { delay, startInterval, stopTimer } from '#core/process/time-and-chance.ts'
import { reason } from '#core/problems.ts'
import { checkFile } from './check-file.ts'
import { DownloadFailure, type Retry } from './failure.ts'
import { discard, type SourceClient } from './source-client.ts'
import type { SourceFile } from './sources.ts'

/** A file that was downloaded. */
export interface FetchedFile {
  name: string
  /** its name on disk: with `.gz` if it was sent compressed */
  stored: string
  url: string
  etag: string | null
  last_modified: string | null
  bytes: number
  sha256: string
  fetched_at: string
}

export interface DownloadLimits {
  /** a transfer that is slower than `slowBytes` in this time is ended */
  slowMs: number
  slowBytes: number
  /** free space that a download leaves on the disk */
  reservedBytes: number
  /** attempts in a row that bring no new bytes, and in all */
  attempts: number
  allAttempts: number
  /** longest wait that a source may ask for */
  maxWaitMs: number
}

export const DOWNLOAD_LIMITS: DownloadLimits = {
  slowMs: 60_000,
  slowBytes: 64 * 1024,
  reservedBytes: 256 * 1024 * 1024,
  attempts: 5,
  allAttempts: 50,
  maxWaitMs: 10 * 60_000,
}

export interface DownloadCtx {
  folder: string
  client: SourceClient
  limits: DownloadLimits
  now: () => Date
  signal: AbortSignal
  /** bytes of the file so far, and in total if the source states it */
  onBytes: (bytes: number, total: number | null) => void
}

/** What is known of a partly downloaded file. */
interface Part {
  url: string
  etag: string | null
  last_modified: string | null
  isGzip: boolean
}

const FIRST_PAUSE_MS = 1_000
const MAX_PAUSE_MS = 60_000
const RETRIED_STATUSES = new Set([408, 425, 429, 500, 502, 503, 504])
const CONNECTION_ERRORS = new Set(['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'HPE_INVALID_CONSTANT', 'ERR_STREAM_PREMATURE_CLOSE'])
const MB = 1024 * 1024

export const PART = '.part'
export const PART_STATE = '.part.json'

/**
 * Downloads the file unless `known` is unchanged at the source and still in the folder.
 * @throws DownloadFailure once further attempts are useless
 */
export async function downloadFile(file: SourceFile, known: FetchedFile | null, ctx: DownloadCtx): Promise<FetchedFile> {
  const { limits, signal } = ctx
  let fruitless = 0
  let wasWrong = false
  for (let attempt = 1; ; attempt += 1) {
    const before = await sizeOf(join(ctx.folder, file.name + PART))
    try {
      return await attemptDownload(file, known, ctx)
    } catch (error) {
      signal.throwIfAborted()
      const failure = asFailure(error, file.url)
      const { retry } = failure
      const grown = (await sizeOf(join(ctx.folder, file.name + PART))) > before
      fruitless = grown ? 0 : fruitless + 1
      if (retry === null || attempt >= limits.allAttempts || fruitless >= limits.attempts || (retry.once && wasWrong)) throw failure
      wasWrong ||= retry.once === true
      const pauseMs = Math.max(retry.afterMs ?? 0, Math.min(FIRST_PAUSE_MS * 2 ** Math.max(0, fruitless - 1), MAX_PAUSE_MS))
      if (pauseMs > limits.maxWaitMs) throw new DownloadFailure(reason('source_wait', { url: file.url, count: Math.ceil(pauseMs / 1_000) }))
      await delay(pauseMs, { signal })
    }
  }
}

async function attemptDownload(file: SourceFile, known: FetchedFile | null, ctx: DownloadCtx): Promise<FetchedFile> {
  const { client, folder, signal } = ctx
  const sha256 = file.sha256Url === undefined ? null : await publishedSha256(file.sha256Url, ctx)
  const stored = known?.url === file.url && (await sizeOf(join(folder, known.stored))) === known.bytes ? known : null
  if (stored && sha256 !== null && stored.sha256 === sha256) return stored
  const part = await readPart(file, folder)
  const headers = {
    accept: 'application/json, application/gzip;q=0.9, */*;q=0.5',
    'accept-encoding': file.compressed ? 'gzip' : 'identity',
    ...(part ? { range: `bytes=${part.size}-`, 'if-range': part.etag ?? part.last_modified! } : conditionsOf(stored)),
  }
  const response = await client.get(file.url, headers, signal)
  try {
    if (response.statusCode === 304 && stored && !part) return stored
    const body = await acceptBody(file, part, response, ctx)
    await receive(file, body, response, ctx)
  } finally {
    discard(response)
  }
  return finish(file, sha256, ctx)
}

/** If the source has neither tag nor date, the file is downloaded again. */
function conditionsOf(stored: FetchedFile | null): Record<string, string> {
  if (stored?.etag) return { 'if-none-match': stored.etag }
  return stored?.last_modified ? { 'if-modified-since': stored.last_modified } : {}
}

interface Accepted {
  /** bytes that are already in the part */
  start: number
  total: number | null
}

/** Checks the head of a response, and prepares the part that its body is added to. */
async function acceptBody(
  file: SourceFile,
  part: (Part & { size: number }) | null,
  response: Dispatcher.ResponseData,
  ctx: DownloadCtx,
): Promise<Accepted> {
  const { statusCode: status, headers } = response
  const { url, maxBytes } = file
  const again = async (): Promise<never> => {
    await removePart(file.name, ctx.folder)
    throw new DownloadFailure(reason('source_status', { url, value: status }), {})
  }
  if (status === 416 && part) return again()
  if (status !== 200 && status !== 206) {
    throw new DownloadFailure(
      reason('source_status', { url, value: status }),
      RETRIED_STATUSES.has(status) ? retryAfter(headers['retry-after'], ctx.now()) : null,
    )
  }
  if (/^\s*(text\/html|application\/xhtml)/i.test(textOf(headers['content-type']) ?? '')) throw new DownloadFailure(reason('source_json', { url }))
  const encoding = textOf(headers['content-encoding']) ?? 'identity'
  if (encoding !== 'identity' && !(encoding === 'gzip' && file.compressed))
    throw new DownloadFailure(reason('source_encoding', { url, value: encoding }))
  const fresh: Part = { url, etag: textOf(headers.etag), last_modified: textOf(headers['last-modified']), isGzip: encoding === 'gzip' }
  const length = Number(textOf(headers['content-length']) ?? Number.NaN)
  let accepted: Accepted = { start: 0, total: Number.isSafeInteger(length) ? length : null }
  if (status === 206) {
    const [, from, of] = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(textOf(headers['content-range']) ?? '') ?? []
    const isSame = part && Number(from) === part.size && (fresh.etag ?? part.etag) === part.etag && fresh.isGzip === part.isGzip
    if (!isSame) return again()
    accepted = { start: part.size, total: of === undefined || of === '*' ? null : Number(of) }
  } else {
    await removePart(file.name, ctx.folder)
    await writeFile(join(ctx.folder, file.name + PART_STATE), JSON.stringify(fresh))
  }
  if ((accepted.total ?? 0) > maxBytes) throw new DownloadFailure(reason('source_size', { url, max: maxBytes }))
  await checkSpace((accepted.total ?? 0) - accepted.start, ctx)
  return accepted
}

/** Adds the body to the part. What arrives before an error stays there. */
async function receive(file: SourceFile, { start, total }: Accepted, { body }: Dispatcher.ResponseData, ctx: DownloadCtx): Promise<void> {
  const { limits, signal } = ctx
  const { url, maxBytes } = file
  let size = start
  let inTime = 0
  let slow = false
  const timer = startInterval(() => {
    slow = inTime < limits.slowBytes
    inTime = 0
    if (slow) body.destroy()
  }, limits.slowMs)
  const abort = () => body.destroy()
  signal.addEventListener('abort', abort)
  const handle: FileHandle = await open(join(ctx.folder, file.name + PART), start === 0 ? 'w' : 'a', 0o600)
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      size += chunk.length
      inTime += chunk.length
      if (size > maxBytes) throw new DownloadFailure(reason('source_size', { url, max: maxBytes }))
      if (Math.floor(size / (64 * MB)) > Math.floor((size - chunk.length) / (64 * MB))) await checkSpace(0, ctx)
      await handle.writeFile(chunk)
      ctx.onBytes(size, total)
    }
    await handle.datasync()
  } catch (error) {
    if (slow) throw new DownloadFailure(reason('source_slow', { url, min: limits.slowBytes, count: limits.slowMs / 1_000 }), {}, error)
    throw error
  } finally {
    stopTimer(timer)
    signal.removeEventListener('abort', abort)
    await handle.close()
    if (size > maxBytes) await removePart(file.name, ctx.folder)
  }
  signal.throwIfAborted()
  if (total !== null && size !== total) throw new DownloadFailure(reason('source_cut_off', { url }), {})
}

/** Checks the whole part and gives it its name. */
async function finish(file: SourceFile, sha256: string | null, { folder, now }: DownloadCtx): Promise<FetchedFile> {
  const path = join(folder, file.name + PART)
  const { etag, last_modified, isGzip } = JSON.parse(await readFile(join(folder, file.name + PART_STATE), 'utf8')) as Part
  try {
    const stored = isGzip && !file.name.endsWith('.gz') ? `${file.name}.gz` : file.name
    const digest = await checkFile(path, file, stored.endsWith('.gz'), sha256)
    const { size: bytes } = await stat(path)
    await rename(path, join(folder, stored))
    return { name: file.name, stored, url: file.url, etag, last_modified, bytes, sha256: digest, fetched_at: now().toISOString() }
  } finally {
    await removePart(file.name, folder)
  }
}

/** The part of an earlier attempt if it can be resumed: with a strong entity tag, or a date. */
async function readPart(file: SourceFile, folder: string): Promise<(Part & { size: number }) | null> {
  const size = await sizeOf(join(folder, file.name + PART))
  if (size <= 0) return null
  try {
    const part = JSON.parse(await readFile(join(folder, file.name + PART_STATE), 'utf8')) as Part
    const canResume = part.etag === null ? part.last_modified !== null : part.etag.startsWith('"')
    return part.url === file.url && canResume ? { ...part, size } : null
  } catch {
    return null
  }
}

async function removePart(name: string, folder: string): Promise<void> {
  await Promise.all([PART, PART_STATE].map((end) => rm(join(folder, name + end), { force: true })))
}

const MAX_CHECKSUM_BYTES = 4_096

async function publishedSha256(url: string, { client, now, signal }: DownloadCtx): Promise<string> {
  const response = await client.get(url, { accept: 'text/plain, */*;q=0.5', 'accept-encoding': 'identity' }, signal)
  try {
    const { statusCode: status, headers } = response
    if (status !== 200) {
      throw new DownloadFailure(
        reason('source_status', { url, value: status }),
        RETRIED_STATUSES.has(status) ? retryAfter(headers['retry-after'], now()) : null,
      )
    }
    let text = ''
    for await (const chunk of response.body as AsyncIterable<Buffer>) {
      text += chunk.toString('latin1')
      if (text.length > MAX_CHECKSUM_BYTES) break
    }
    const digest = /^\s*([0-9a-f]{64})\b/i.exec(text)?.[1]
    if (digest === undefined) throw new DownloadFailure(reason('source_checksum', { url }))
    return digest.toLowerCase()
  } finally {
    discard(response)
  }
}

/** `Retry-After` in seconds or as a date. */
function retryAfter(header: string | string[] | undefined, now: Date): Retry {
  const text = textOf(header)
  if (text === null) return {}
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now.getTime()
  return Number.isFinite(ms) ? { afterMs: Math.max(0, ms) } : {}
}

async function checkSpace(needed: number, { folder, limits }: DownloadCtx): Promise<void> {
  const { bavail, bsize } = await statfs(folder)
  const free = bavail * bsize
  if (free >= needed + limits.reservedBytes) return
  throw new DownloadFailure(reason('source_disk', { min: Math.ceil((needed + limits.reservedBytes) / MB), max: Math.floor(free / MB) }))
}

/** Errors of the connection and of the body, which another attempt may not meet. */
function asFailure(error: unknown, url: string): DownloadFailure {
  if (error instanceof DownloadFailure) return error
  const { code = '' } = error as NodeJS.ErrnoException
  if (code.startsWith('UND_ERR') || CONNECTION_ERRORS.has(code)) return new DownloadFailure(reason('source_cut_off', { url }), {}, error)
  throw error
}

function textOf(header: string | string[] | undefined): string | null {
  return typeof header === 'string' && header !== '' ? header : null
}

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => -1,
  )
}
