// The picture of an item.
import { useState } from 'preact/hooks'
import { Logo } from './frame.tsx'

export interface Pictured {
  name: string
  images: readonly { url: string; order: number }[]
}

/** An item's first picture, or an empty card of the same size if it cannot be loaded. */
export function Picture({ item, small }: { item: Pictured; small?: boolean }) {
  const [broken, setBroken] = useState<string | null>(null)
  const url = item.images.toSorted((a, b) => a.order - b.order)[0]?.url
  const size = small ? { width: 30, height: 42, class: 'picture small' } : { width: 245, height: 342, class: 'picture' }
  if (!url || broken === url) {
    return (
      <span {...size} class={`${size.class} none`} aria-hidden="true">
        {!small && <Logo size={84} />}
      </span>
    )
  }
  return <img {...size} src={url} alt={small ? '' : item.name} loading="lazy" referrerpolicy="no-referrer" onError={() => setBroken(url)} />
}
