// Image addresses in responses: at the source, behind the image proxy, or among our own files; and photos of sellers.
import { hash } from 'node:crypto'

/** Turns the stored address of an image into the one in responses; also gives the addresses of pages. */
export interface ImageAddresses {
  /** @param order of the image among those of the item */
  ofItem(itemId: number, order: number, stored: string): string
  ofCategory(categoryId: number, stored: string): string
  ofPhoto(key: string, width: number): string
  /** @param path of a page of the public listener */
  ofPage(path: string): string
}

/** Path under which both listeners serve the pictures of the sample catalogue. */
export const SAMPLE_PICTURES = '/sample/pictures/'

/** Path of the photos of sellers. */
export const PHOTOS = '/images/photos/'
/** Regular expression that finds the key of a photo in its address, whatever the public URL was when it was stored; also for PostgreSQL. */
export const PHOTO_KEY = `${PHOTOS}([0-9a-f]{32})/`

/** Enough digits to distinguish the successive addresses of one image. */
const VERSION_LENGTH = 12

/** Changes with the stored address, so that external caches never serve an earlier image. */
function imageVersion(stored: string): string {
  return hash('sha256', stored).slice(0, VERSION_LENGTH)
}

/**
 * Builds addresses under `publicUrl` (without a trailing slash) for our own files, which are stored as paths, and if `proxied` for all
 * images. Other addresses are returned as stored.
 */
export function imageAddresses(publicUrl: () => string, proxied: boolean): ImageAddresses {
  const written = (path: string, stored: string) => {
    if (stored.startsWith('/')) return publicUrl() + stored
    return proxied ? `${publicUrl()}/images/${path}/${imageVersion(stored)}` : stored
  }
  return {
    ofItem: (itemId, order, stored) => written(`items/${itemId}/${order}`, stored),
    ofCategory: (categoryId, stored) => written(`categories/${categoryId}`, stored),
    ofPhoto: (key, width) => `${publicUrl()}${PHOTOS}${key}/${width}.webp`,
    ofPage: (path) => publicUrl() + path,
  }
}
