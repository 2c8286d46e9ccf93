// Photos of listings: uploads of files, and the pictures that a listing has already.
import type { ApiError } from '#ui/api.ts'
import { asApiError } from '#ui/data.ts'
import type { OwnListing } from '../../../client/src/api.ts'
import { request } from '../api.ts'

export interface ListingPhoto {
  url: string
  /** address of the smallest size */
  small: string
}

export interface RefusedFile {
  name: string
  error: ApiError
}

/** Uploads files, one after another. @param add is called with each photo @param done is called after each file @returns the refused files */
export async function uploadPhotos(files: readonly File[], add: (photo: ListingPhoto) => void, done: () => void): Promise<RefusedFile[]> {
  const refused: RefusedFile[] = []
  for (const file of files) {
    try {
      const { data } = await request('POST', '/plus/images', { image: file })
      add({ url: data.url, small: data.sizes[0]!.url })
    } catch (error) {
      refused.push({ name: file.name, error: asApiError(error) })
    }
    done()
  }
  return refused
}

/** The photos with one more at the end. A file that is uploaded again is the same photo. */
export function withPhoto(photos: readonly ListingPhoto[], photo: ListingPhoto): ListingPhoto[] {
  return [...photos.filter(({ url }) => url !== photo.url), photo]
}

/** The pictures of a listing in their order. Smaller sizes of them are not known. */
export function photosOf({ images }: OwnListing): ListingPhoto[] {
  return images.toSorted((a, b) => a.order - b.order).map(({ url }) => ({ url, small: url }))
}
