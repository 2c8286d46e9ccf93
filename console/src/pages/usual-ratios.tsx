// Usual ratios of sets between two markets that are too far from the game's to be applied: confirming and rejecting them.
import { useVersion } from '#ui/data.ts'
import { confirm } from '#ui/dialog.tsx'
import { Refusal } from '#ui/states.tsx'
import { announce } from '#ui/toasts.tsx'
import type { UsualRatio } from '../api-types.ts'
import { usualRatioStateValues as STATES } from '../api-values.ts'
import { List, useWrite } from '../api.ts'
import { PermittedButton } from '../ui/permitted-button.tsx'
import { moment, rateText, t, termText } from '../words.ts'
import { priceText } from './prices.ts'

export function UsualRatios() {
  const [version, changed] = useVersion()
  const { busy, error, write } = useWrite()
  const decide = async (row: UsualRatio, does: 'confirm' | 'reject') => {
    const applied = ratioText(does === 'confirm' ? row.ratio : row.game_ratio)
    const question = { title: t(`ratio.${does}Title`, { name: row.category }), text: t('ratioDecideText', { applied }), action: t(`ratio.${does}`) }
    if (!(await confirm({ ...question, danger: false }))) return
    const { category_id, finish, market, other_market, ratio } = row
    const done = await write('POST', `/usual-ratios/${does}`, { category_id, finish, market, other_market, ratio })
    if (!done) return
    announce(t('ratioDecided', { name: row.category, applied: ratioText(done.data.applied_ratio) }))
    changed()
  }
  return (
    <section>
      <h2>{t('usualRatios')}</h2>
      <p class="quiet">{t('usualRatiosText')}</p>
      <Refusal error={error} />
      <List
        path="/usual-ratios"
        caption={t('usualRatios')}
        empty={t('noUsualRatios')}
        version={version}
        filters={[{ name: 'state', label: t('state'), options: STATES.map((code) => ({ value: code, text: termText('ratioState', code) })) }]}
        rowKey={({ category_id, finish, market, other_market }) => [category_id, finish, market, other_market].join(' ')}
        columns={[
          {
            head: t('set'),
            cell: ({ category, finish, cards }) => (
              <>
                {category} <span class="quiet">{finish}</span>
                <div class="quiet">{t('ratioCards', { cards })}</div>
              </>
            ),
          },
          { head: t('ratioMarkets'), cell: ({ market, other_market: other }) => `${termText('market', market)} : ${termText('market', other)}` },
          { head: t('ratioOfSet'), number: true, cell: ({ ratio }) => ratioText(ratio) },
          { head: t('ratioOfGame'), number: true, cell: ({ game_ratio: ratio }) => ratioText(ratio) },
          { head: t('ratioApplied'), number: true, cell: ({ applied_ratio: ratio }) => ratioText(ratio) },
          { head: t('ratioExamples'), cell: (row) => <Examples of={row} /> },
          {
            head: t('decision'),
            cell: ({ state, decided }) => (
              <>
                <span class={`status ${state === 'open' ? 'wait' : ''}`}>{termText('ratioState', state)}</span>
                {decided && (
                  <div class="quiet">
                    {ratioText(decided.ratio)}, {decided.by}, {moment(decided.at)}
                  </div>
                )}
              </>
            ),
          },
          {
            head: t('actions'),
            cell: (row) => (
              <div class="buttons">
                {row.state !== 'confirmed' && <Decide of={row} does="confirm" busy={busy} decide={decide} />}
                {row.state !== 'rejected' && <Decide of={row} does="reject" busy={busy} decide={decide} />}
              </div>
            ),
          },
        ]}
      />
    </section>
  )
}

interface DecideProps {
  of: UsualRatio
  does: 'confirm' | 'reject'
  busy: boolean
  decide: (row: UsualRatio, does: 'confirm' | 'reject') => Promise<void>
}

function Decide({ of: row, does, busy, decide }: DecideProps) {
  const name = [row.category, row.finish, termText('market', row.market), termText('market', row.other_market)].filter(Boolean).join(', ')
  return (
    <PermittedButton need="catalogue" disabled={busy} aria-label={`${t(`ratio.${does}`)}: ${name}`} onClick={() => void decide(row, does)}>
      {t(`ratio.${does}`)}
    </PermittedButton>
  )
}

/** Prices of cards in both markets. */
function Examples({ of: { prices, market, other_market: other } }: { of: UsualRatio }) {
  return (
    <ul>
      {prices.map(({ item_id: id, name, label, price, other_price: otherPrice }) => (
        <li key={`${id} ${label}`}>
          <a href={`/console/catalogue/items/${id}`}>{name}</a> <span class="quiet">{label}</span> {priceText(price, market)} ·{' '}
          {priceText(otherPrice, other)}
        </li>
      ))}
    </ul>
  )
}

const ratioText = (ratio: number) => rateText(Number(ratio.toPrecision(3)))
