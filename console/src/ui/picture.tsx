// Pictures in the console: loaded through this service, because sellers and sources choose their addresses.
import { useState } from 'preact/hooks'
import { Picture as PlainPicture, type Pictured } from '#ui/picture.tsx'

export type { Pictured }

/** The address under which this service fetches a picture; its own pictures, which are paths, stay as they are. */
export function pictureAddress(url: string): string {
  return url.startsWith('/') ? url : `/console/pictures?url=${encodeURIComponent(url)}`
}

export function Picture({ item, small }: { item: Pictured; small?: boolean }) {
  const images = item.images.map(({ url, order }) => ({ order, url: pictureAddress(url) }))
  return <PlainPicture item={{ name: item.name, images }} {...(small !== undefined && { small })} />
}

/** A seller's picture, which opens in full; an empty card if it cannot be loaded. */
export function ListingPicture({ url, name }: { url: string; name: string }) {
  const [broken, setBroken] = useState<string | null>(null)
  const src = pictureAddress(url)
  if (broken === src) return <span class="picture none" role="img" aria-label={name} />
  return (
    <a href={src} target="_blank" rel="noreferrer">
      <img src={src} alt={name} loading="lazy" onError={() => setBroken(src)} />
    </a>
  )
}
