// Serves catalogue images from the disk cache, or fetches each once for all concurrent requests.
import { join } from 'node:path'
import { Cache } from '#core/cache.ts'
import type { Log } from '#core/context.ts'
import { DAY_MS, MINUTE_MS } from '#core/duration.ts'
import { ServiceError } from '#core/errors.ts'
import { reason } from '#core/problems.ts'
import type { Network } from '#outbound/dial.ts'
import { fetchImage, ImageFailure, type ImageProblem, openSources } from './fetch-image.ts'
import { imageKey, ImageStore, type OpenImage } from './image-store.ts'

export interface ImageProxyOptions {
  dataDir: string
  imageCacheMb: number
  network: Network
  log: Log
  now: () => Date
}

export interface ImageProxy {
  /**
   * The image at an address; the caller closes it.
   * @throws ServiceError NOT_FOUND if the source has none, UPSTREAM_ERROR and UPSTREAM_TIMEOUT if it fails, UNAVAILABLE if the image
   * cannot be stored
   */
  open(url: string): Promise<OpenImage>
  /** bytes in the cache, and images served since the start, by result */
  counts(): { bytes: number; cached: number; fetched: number; failed: number }
  close(): Promise<void>
}

/** An older image is fetched again, while the cached one is served. */
const REFRESH_MS = 30 * DAY_MS
/** After a failure, an image is not requested from its source again for this time. */
const PAUSE_MS: Record<ImageProblem, number> = { missing: 10 * MINUTE_MS, failed: MINUTE_MS, slow: MINUTE_MS }
const CACHED_FAILURES = 10_000

/** Opens the cache; earlier images are indexed in the background. */
export function openImageProxy({ dataDir, imageCacheMb, network, log, now }: ImageProxyOptions): ImageProxy {
  const store = openStore(join(dataDir, 'images'), imageCacheMb, log, now)
  const sources = openSources(network)
  const fetching = new Map<string, Promise<void>>()
  const failures = new Cache<string, { failure: ImageFailure; untilMs: number }>({ limit: CACHED_FAILURES })
  const counts = { cached: 0, fetched: 0, failed: 0 }

  const fetchAnew = async (url: string, key: string): Promise<void> => {
    try {
      await store.put(key, await fetchImage(url, sources))
      failures.delete(key)
    } catch (error) {
      if (!(error instanceof ImageFailure)) throw error
      failures.set(key, { failure: error, untilMs: now().getTime() + PAUSE_MS[error.problem] })
      log.warn({ image: url.split('?', 1)[0], reason: error.message }, 'Failed to fetch an image')
      throw error
    }
  }

  const fetchOnce = (url: string, key: string): Promise<void> => {
    const failed = failures.get(key)
    if (failed && failed.untilMs > now().getTime()) return Promise.reject(failed.failure)
    let running = fetching.get(key)
    if (!running) {
      running = fetchAnew(url, key).finally(() => fetching.delete(key))
      fetching.set(key, running)
    }
    return running
  }

  const open = async (url: string): Promise<OpenImage> => {
    const key = imageKey(url)
    const stored = await store.open(key)
    if (stored) {
      counts.cached += 1
      // The failure is already logged, and the old image is kept.
      if (now().getTime() - stored.fetchedMs > REFRESH_MS) fetchOnce(url, key).catch(() => {})
      return stored
    }
    await fetchOnce(url, key)
    const fetched = await store.open(key)
    if (!fetched) throw new Error('the image was evicted from the cache immediately after it was stored')
    counts.fetched += 1
    return fetched
  }

  return {
    open: (url) =>
      open(url).catch((error: unknown) => {
        counts.failed += 1
        throw refusalOf(error)
      }),
    counts: () => ({ bytes: store.bytes, ...counts }),
    close: async () => {
      await sources.destroy()
      await Promise.allSettled(fetching.values())
    },
  }
}

function openStore(folder: string, megabytes: number, log: Log, now: () => Date): ImageStore {
  try {
    return new ImageStore(folder, megabytes * 1024 * 1024, log, now)
  } catch (error) {
    throw new Error(`Cannot create ${folder} for cached images: change the owner of DATA_DIR, or set IMAGE_PROXY=off`, { cause: error })
  }
}

/** Failures must not be cached, because the next request may succeed. */
const headers = { 'cache-control': 'no-store' }

function refusalOf(error: unknown): ServiceError {
  if (!(error instanceof ImageFailure)) {
    return new ServiceError('UNAVAILABLE', reason('image_not_stored'), { headers, cause: error })
  }
  switch (error.problem) {
    case 'missing':
      return new ServiceError('NOT_FOUND', reason('image_gone'), { headers })
    case 'slow':
      return new ServiceError('UPSTREAM_TIMEOUT', reason('image_late'), { headers })
    case 'failed':
      return new ServiceError('UPSTREAM_ERROR', reason('image_unusable'), { headers })
  }
}
