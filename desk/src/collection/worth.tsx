// What a collection is worth: its sums by currency, in tiles.
import { Tile } from '#ui/tile.tsx'
import type { Collection } from '../../../client/src/api.ts'
import { money, t } from '../words.ts'

/** One row of tiles, whatever their number, so that nothing below moves when they arrive. @param of null while it loads */
export function WorthTiles({ of: collection }: { of: Collection | null }) {
  const { worth } = collection ?? {}
  const left = [
    worth && worth.without_price + worth.without_trusted_price > 0 && t('unpriced', { count: worth.without_price + worth.without_trusted_price }),
    worth && worth.without_cost > 0 && t('withoutCost', { count: worth.without_cost }),
  ]
  return (
    // It scrolls sideways on narrow screens, so it must be reachable by keyboard.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled by keyboard
    <section class="tiles worth-tiles" tabIndex={0} aria-label={t('worth')} aria-busy={collection === null}>
      <Tile label={t('records')} value={collection?.items_count ?? '…'} waits={false}>
        {left.filter(Boolean).join(' · ')}
      </Tile>
      {(worth?.currencies ?? []).map(({ currency, value, cost, gain }) => (
        <Tile key={currency} label={t('worthIn', { currency })} value={money(value, currency)} waits={false}>
          {[cost > 0 && `${t('cost')} ${money(cost, currency)}`, gain !== null && `${t('gain')} ${money(gain, currency)}`]
            .filter(Boolean)
            .join(' · ')}
        </Tile>
      ))}
    </section>
  )
}
