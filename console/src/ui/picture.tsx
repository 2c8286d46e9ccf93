// The picture of an item.
import { useState } from 'preact/hooks'
import { Logo } from '#ui/frame.tsx'
import type { StoredItem } from '../api-types.ts'

/** An item's first picture; where it cannot be loaded, an empty card of the same size. */
export function Picture({ item, small }: { item: Pick<StoredItem, 'images' | 'name'>; small?: boolean }) {
  const [broken, setBroken] = useState(false)
  const url = item.images.toSorted((a, b) => a.order - b.order)[0]?.url
  const size = small ? { width: 18, height: 25, class: 'picture small' } : { width: 245, height: 342, class: 'picture' }
  if (!url || broken) {
    return (
      <span {...size} class={`${size.class} none`} aria-hidden="true">
        {!small && <Logo size={84} />}
      </span>
    )
  }
  return <img {...size} src={url} alt={small ? '' : item.name} loading="lazy" referrerpolicy="no-referrer" onError={() => setBroken(true)} />
}
