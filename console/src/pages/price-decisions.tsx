// Decisions about prices, newest first; each can be undone.
import { useState } from 'preact/hooks'
import { useVersion } from '#ui/data.ts'
import { Tabs } from '#ui/frame.tsx'
import { Heading } from '#ui/heading.tsx'
import { announce } from '#ui/toasts.tsx'
import type { PriceDecision } from '../api-types.ts'
import { priceDecisionDecisionValues as DECISIONS } from '../api-values.ts'
import { List, writeNow } from '../api.ts'
import { ItemPicture } from '../ui/item-picture.tsx'
import { PermittedButton } from '../ui/permitted-button.tsx'
import { ago, count, moment, t, termText } from '../words.ts'

export function ReviewTabs({ current }: { current: 'reviews' | 'decisions' }) {
  return (
    <Tabs
      tabs={[
        { href: '/console/price-reviews', text: t('pricesInQuestion'), current: current === 'reviews' },
        { href: '/console/price-decisions', text: t('priceDecisions'), current: current === 'decisions' },
      ]}
    />
  )
}

/** Undoes a decision and announces the result. @returns whether it was undone */
export async function undoDecision(id: number): Promise<boolean> {
  const done = await writeNow('POST', `/price-decisions/${id}/undo`)
  if (!done) return false
  const { prices, kept: unchanged } = done.data
  const reasons = Object.entries(unchanged)
  const left = reasons.reduce((sum, [, number]) => sum + number, 0)
  const why = reasons.map(([reason, number]) => `${termText('kept', reason)}: ${count(number)}`).join(', ')
  announce(t('decisionUndone', { count: prices - left }) + (left > 0 ? ` ${t('decisionKept', { count: left, why })}` : ''))
  return true
}

export function PriceDecisionsPage() {
  const [version, changed] = useVersion()
  const [busy, setBusy] = useState(false)
  const undo = async (id: number) => {
    setBusy(true)
    await undoDecision(id)
    setBusy(false)
    changed()
  }
  return (
    <>
      <Heading>{t('priceDecisions')}</Heading>
      <ReviewTabs current="decisions" />
      <List
        path="/price-decisions"
        caption={t('priceDecisions')}
        empty={t('noDecisions')}
        version={version}
        filters={[
          {
            name: 'state',
            label: t('state'),
            options: ['in_effect', 'undone'].map((code) => ({ value: code, text: termText('decisionState', code) })),
          },
          { name: 'decision', label: t('decision'), options: DECISIONS.map((code) => ({ value: code, text: termText('decision', code) })) },
        ]}
        rowKey={(row) => row.id}
        columns={[
          { head: t('decision'), cell: (row) => `#${row.id} ${termText('decision', row.decision)}` },
          { head: t('pricesCount'), number: true, cell: (row) => count(row.prices) },
          { head: t('item'), cell: (row) => <Items of={row} /> },
          { head: t('chosenBy'), wide: true, cell: (row) => <Chosen of={row} /> },
          { head: t('actor'), wide: true, cell: (row) => row.author },
          { head: t('when'), short: true, cell: (row) => <span title={moment(row.at)}>{ago(row.at)}</span> },
          {
            head: t('actions'),
            cell: (row) =>
              row.undone_at === null ? (
                <PermittedButton need="catalogue" disabled={busy} aria-label={`${t('undo')}: #${row.id}`} onClick={() => void undo(row.id)}>
                  {t('undo')}
                </PermittedButton>
              ) : (
                <span class="quiet" title={moment(row.undone_at)}>
                  {t('undoneBy', { author: row.undone_by ?? '' })}
                </span>
              ),
          },
        ]}
      />
    </>
  )
}

function Items({ of: { item, items } }: { of: PriceDecision }) {
  return (
    <>
      {item && (
        <a class="with-picture" href={`/console/catalogue/items/${item.id}`}>
          <ItemPicture id={item.id} /> {item.name}
        </a>
      )}
      {items > 1 && <span class="quiet"> {t('andOthers', { count: items - 1 })}</span>}
    </>
  )
}

function Chosen({ of: { filter } }: { of: PriceDecision }) {
  if (!filter) return '–'
  return Object.entries(filter)
    .map(([name, value]) => `${name}: ${String(value)}`)
    .join(', ')
}
