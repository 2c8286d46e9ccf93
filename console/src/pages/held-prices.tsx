// Prices that were held back: each beside what it was compared with, accepted or discarded, one or many at a time.
import { useEffect, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { type Query, request } from '../api.ts'
import { asApiError, useVersion, writeNow } from '../data.ts'
import { useAddressQuery } from '../address.ts'
import { heldPriceStateValues as HELD_STATES, heldPriceRuleValues as HOLD_RULES, type HeldPrice } from '../api-types.ts'
import { confirmed } from '../ui/dialog.tsx'
import { Heading } from '../ui/heading.tsx'
import { Status } from '../ui/states.tsx'
import { type Column, List } from '../ui/table.tsx'
import { announce } from '../ui/toasts.tsx'
import { date, moment, sentence, refusal, t, term } from '../words.ts'
import { ImportTabs } from './imports.tsx'
import { marketOptions } from '../ui/market-options.ts'
import { priceText } from './prices.ts'

type Decision = 'accept' | 'discard'

export function HeldPricesPage() {
  const [version, changed] = useVersion()
  const [chosen, setChosen] = useState<number[]>([])
  const [busy, setBusy] = useState(false)
  const { values } = useAddressQuery()
  const { url } = useLocation()
  // What is chosen is on the page that is shown.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another address is another page
  useEffect(() => setChosen([]), [url])
  const decide = async (decision: Decision, ids: number[]) => {
    const asked = { title: t('discardTitle', { count: ids.length }), text: t('discardText'), action: t('discard') }
    if (decision === 'discard' && !(await confirmed(asked))) return
    setBusy(true)
    let decided = 0
    for (const id of ids) if (await writeNow('POST', `/held-prices/${id}/${decision}`, {})) decided += 1
    setBusy(false)
    setChosen([])
    if (decided > 0) announce(t(decision === 'accept' ? 'acceptedCount' : 'discardedCount', { count: decided }))
    changed()
  }
  const filters = Object.fromEntries(['rule', 'market', 'import_id', 'item_id'].flatMap((name) => (values[name] ? [[name, values[name]]] : [])))
  const filtered = Object.keys(filters).length > 0
  const open = (values.state ?? 'open') === 'open'
  const decideAll = async (decision: Decision) => {
    setBusy(true)
    const count = await countMatching(filters)
    setBusy(false)
    if (count === null) return
    if (count === 0) return announce(t('nothingMatches'))
    const title = t(decision === 'accept' ? 'acceptAllTitle' : 'discardAllTitle', { count })
    if (!(await confirmed({ title, text: t('decideAllText'), action: t(decision === 'accept' ? 'acceptCount' : 'discardCount', { count }) }))) return
    const { import_id: importId, item_id: itemId, ...rest } = filters
    const body = { ...rest, ...(importId && { import_id: Number(importId) }), ...(itemId && { item_id: Number(itemId) }) }
    const done = await writeNow('POST', `/held-prices/${decision}`, body)
    if (done) announce(t(decision === 'accept' ? 'acceptedCount' : 'discardedCount', { count: done.data.decided }))
    changed()
  }
  const decisions: Column<HeldPrice> = {
    head: t('actions'),
    cell: (held) => (
      <span class="buttons tight">
        <button
          type="button"
          disabled={busy}
          aria-label={`${t('accept')}: ${held.item.name} ${held.label}`}
          onClick={() => void decide('accept', [held.id])}
        >
          {t('accept')}
        </button>
        <button
          type="button"
          class="danger"
          disabled={busy}
          aria-label={`${t('discard')}: ${held.item.name} ${held.label}`}
          onClick={() => void decide('discard', [held.id])}
        >
          {t('discard')}
        </button>
      </span>
    ),
  }
  const decided: Column<HeldPrice> = {
    head: t('decision'),
    cell: (held) => (
      <>
        <Status code={held.state} /> <span class="quiet">{held.decided_by}</span>
      </>
    ),
  }
  return (
    <>
      <Heading>{t('heldPrices')}</Heading>
      <ImportTabs current="held" />
      <List
        path="/held-prices"
        caption={t('heldPrices')}
        empty={t('noHeld')}
        version={version}
        filters={[
          { name: 'rule', label: t('rule'), options: HOLD_RULES.map((code) => ({ value: code, text: term('rule', code) })) },
          { name: 'market', label: t('source'), options: marketOptions() },
          { name: 'import_id', label: t('import'), type: 'number' },
          { name: 'item_id', label: t('itemId'), type: 'number' },
          { name: 'state', label: t('state'), options: HELD_STATES.map((code) => ({ value: code, text: term('held', code) })), always: true },
        ]}
        actions={
          open && (
            <>
              {filtered && chosen.length === 0 && (
                <>
                  <button type="button" disabled={busy} onClick={() => void decideAll('accept')}>
                    {t('acceptAll')}
                  </button>
                  <button type="button" class="danger" disabled={busy} onClick={() => void decideAll('discard')}>
                    {t('discardAll')}
                  </button>
                </>
              )}
              <button type="button" disabled={busy || chosen.length === 0} onClick={() => void decide('accept', chosen)}>
                {t('acceptCount', { count: chosen.length })}
              </button>
              <button type="button" class="danger" disabled={busy || chosen.length === 0} onClick={() => void decide('discard', chosen)}>
                {t('discardCount', { count: chosen.length })}
              </button>
            </>
          )
        }
        rowKey={(held) => held.id}
        pick={open ? { chosen, choose: (keys) => setChosen(keys.map(Number)), nameOf: (held) => `${held.item.name} ${held.label}` } : undefined}
        columns={[
          {
            head: t('item'),
            cell: (held) => <a href={`/console/catalogue/items/${held.item.id}`}>{held.item.name}</a>,
          },
          { head: t('label'), short: true, cell: (held) => held.label },
          { head: t('source'), short: true, wide: true, cell: (held) => term('market', held.market) },
          { head: t('price'), number: true, cell: (held) => priceText(held.price, held.market) },
          { head: t('comparedWith'), number: true, cell: (held) => <Compared held={held} /> },
          { head: t('why'), cell: (held) => <span title={refusal({ ...held, message: held.reason })}>{term('rule', held.rule)}</span> },
          { head: t('asOf'), short: true, cell: (held) => <span title={moment(held.updated_at)}>{date(held.updated_at)}</span> },
          open ? decisions : decided,
        ]}
      />
    </>
  )
}

/** How many open prices these filters find, null when the service does not say; the refusal is announced then. */
async function countMatching(filters: Query): Promise<number | null> {
  try {
    const { pagination } = await request('GET', '/held-prices', { query: { ...filters, per_page: 1 } })
    return pagination?.total ?? null
  } catch (error) {
    announce(sentence(asApiError(error)), 'bad')
    return null
  }
}

/** The price that it was compared with, and how many times off that it is. */
function Compared({ held: { compared_price: compared, times_off: times, market } }: { held: HeldPrice }) {
  if (compared === null) return '–'
  return (
    <>
      {priceText(compared, market)} {times !== null && <span class="quiet">{t('timesOff', { times: Math.round(times) })}</span>}
    </>
  )
}
