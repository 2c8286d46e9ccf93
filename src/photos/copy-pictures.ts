// Copies pictures that listings link from elsewhere, once each, into photos of the account, and replaces their addresses in the listings.
import { hash } from 'node:crypto'
import type { Dispatcher } from 'undici'
import { lockIntakeQuota } from '#accounts/account-store.ts'
import { PHOTO_KEY, PHOTOS } from '#catalogue/records/image-addresses.ts'
import { ServiceError } from '#core/errors.ts'
import { reason } from '#core/problems.ts'
import { change } from '#db/changes/change.ts'
import type { Queryable } from '#db/schema.ts'
import { fetchImage, ImageFailure, openSources } from '#images/fetch-image.ts'
import { hasPicture, replacePicture } from '#market/listings/replace-picture.ts'
import type { Network } from '#outbound/dial.ts'
import { findOwnPhoto, type Original, type PhotoRow } from './photo-store.ts'
import type { PhotoCtx } from './photo-types.ts'
import {
  claimPictures,
  type CopyProblem,
  findPictures,
  forgetPicture,
  type PictureCopy,
  postponeCopy,
  recordCopy,
  recordProblem,
} from './picture-copies.ts'
import { photoAdded, publishFiles, requireRoom, saveFiles } from './save-photo.ts'

export interface CopyCtx extends PhotoCtx {
  network: Network
}

/** Pictures of one run, and of them at once: a slow source takes up to ten seconds. */
const PER_RUN = 16
const AT_ONCE = 2
/** Linked pictures of an account that are remembered, as a multiple of the photos that it may have. */
const LINKED_PER_PHOTO = 2

/**
 * The task that copies pictures, some at each run. Without a public URL it does nothing, because the address of a copy is not known.
 * @param signal ends a run early
 */
export function pictureCopier(ctx: CopyCtx, signal: AbortSignal): () => Promise<void> {
  let searchedTo = 0
  return async () => {
    const ours = addressOf(ctx, '', 0).split(PHOTOS, 1)[0]! + PHOTOS
    if (!ours.startsWith('http')) return
    const search = { afterId: searchedTo, ours, max: ctx.photos.perAccount * LINKED_PER_PHOTO }
    searchedTo = await findPictures(ctx.db, search, ctx.now())
    const claimed = await claimPictures(ctx.db, PER_RUN, ctx.now())
    if (claimed.length > 0) await copyAll(ctx, claimed, signal)
  }
}

async function copyAll(ctx: CopyCtx, pictures: readonly PictureCopy[], signal: AbortSignal): Promise<void> {
  const sources = openSources(ctx.network)
  const stop = () => void sources.destroy()
  signal.addEventListener('abort', stop)
  const waiting = pictures.values()
  const copySome = async () => {
    for (const picture of waiting) {
      const failure = signal.aborted ? 'busy' : await copyOne(ctx, picture, sources)
      await recordFailure(ctx, picture, signal.aborted ? 'busy' : failure)
    }
  }
  const results = await Promise.allSettled(Array.from({ length: AT_ONCE }, copySome))
  signal.removeEventListener('abort', stop)
  await sources.destroy()
  for (const result of results) if (result.status === 'rejected') throw result.reason
}

type Failure = CopyProblem | 'full' | 'busy'

async function recordFailure({ db, now }: CopyCtx, { id }: PictureCopy, failure: Failure | null): Promise<void> {
  if (failure === 'full' || failure === 'busy') await postponeCopy(db, id, failure, now())
  else if (failure) await recordProblem(db, id, failure, failure === 'unusable')
}

/** @returns why it was not copied; null if it was, or if no listing has it any more */
async function copyOne(ctx: CopyCtx, picture: PictureCopy, sources: Dispatcher): Promise<Failure | null> {
  const { account_id: accountId, url } = picture
  try {
    if (!(await hasPicture(ctx.db.kysely, accountId, url))) {
      await forgetPicture(ctx.db, picture.id)
      return null
    }
    const existing = await existingCopy(ctx.db.kysely, picture)
    if (existing) {
      await publish(ctx, picture, { accountId, sha256: existing.sha256 }, null)
      return null
    }
    await requireRoom(ctx, ctx.db.kysely, accountId, 1)
    const bytes = await bytesOf(url, sources)
    const original = { accountId, sha256: hash('sha256', bytes, 'buffer') }
    await publish(ctx, picture, original, await saveFiles(ctx, original, bytes))
    return null
  } catch (error) {
    return failureOf(error)
  }
}

/** The copy made for another listing; or the account's own photo, if the address names it on another host, which need not serve the same. */
function existingCopy(on: Queryable, { account_id: accountId, url, photo_id: photoId }: PictureCopy): Promise<PhotoRow | null> {
  return findOwnPhoto(on, accountId, { id: photoId, key: PHOTO.exec(url)?.[1] ?? null })
}

const PHOTO = new RegExp(PHOTO_KEY)

/** Publishes the copy and replaces the picture by it, in one transaction. */
async function publish(ctx: CopyCtx, { id, account_id: sellerId, url }: PictureCopy, original: Original, key: string | null): Promise<void> {
  await change(ctx, async (tx, note) => {
    await lockIntakeQuota(tx, sellerId)
    const saved = await publishFiles(ctx, tx, original, key)
    // Removed meanwhile, as no listing used it: fetched again at the next attempt.
    if (!saved) throw new ServiceError('UNAVAILABLE', reason('photo_store'))
    const { photo, isNew } = saved
    if (isNew) note.audit({ ...photoAdded(original, photo), actor: 'system' })
    await replacePicture(tx, note, { sellerId, url, copy: addressOf(ctx, photo.key, photo.widths.at(-1)!) })
    await recordCopy(tx, id, photo.id)
  })
}

function addressOf({ catalogue }: CopyCtx, key: string, width: number): string {
  return catalogue.addresses.ofPhoto(key, width)
}

async function bytesOf(url: string, sources: Dispatcher): Promise<Buffer> {
  const { body } = await fetchImage(url, sources)
  return Buffer.concat(await Array.fromAsync(body))
}

/** @throws the error if the picture is not its cause */
function failureOf(error: unknown): Failure {
  if (error instanceof ImageFailure) return error.problem
  if (!(error instanceof ServiceError)) throw error
  if (error.code !== 'VALIDATION_ERROR') return 'busy'
  return error.details.some(({ rule }) => rule === 'photos_full') ? 'full' : 'unusable'
}
