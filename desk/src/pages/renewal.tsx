// Listings whose period ends soon: a preview of renewing each, and the result.
import { useEffect, useState } from 'preact/hooks'
import { useAddressQuery } from '#ui/address.ts'
import { Heading } from '#ui/heading.tsx'
import { RowPages } from '#ui/row-pages.tsx'
import { Empty, Refusal, Status, Loading } from '#ui/states.tsx'
import { announce } from '#ui/toasts.tsx'
import type { RenewedListing } from '../../../client/src/api.ts'
import { mayWrite, useWrite } from '../api.ts'
import { dropCachedListings, ListingEnd, ListingTitle } from '../listing-title.tsx'
import { moment, refusalText, t } from '../words.ts'
import { ListingTabs } from './listings.tsx'

const DAYS = [3, 7, 14, 30]
const DEFAULT_DAYS = 7

interface RenewalResult {
  rows: RenewedListing[]
  /** whether more listings end within these days than one request renews */
  more: boolean
  /** whether the listings were renewed, not only previewed */
  done: boolean
}

export function RenewalPage() {
  const address = useAddressQuery()
  const days = Number(address.values.days) || DEFAULT_DAYS
  const { busy, error, write } = useWrite()
  const [shown, setShown] = useState<RenewalResult | null>(null)
  const [chosen, choose] = useState<(string | number)[]>([])
  const look = async () => {
    setShown(null)
    const renewal = { ending_within_days: days, dry_run: true }
    const reply = await write('POST', '/plus/listings/renew', renewal)
    if (!reply) return
    setShown({ rows: reply.data, more: (reply as { more?: boolean }).more ?? false, done: false })
    choose(reply.data.filter(({ refused }) => refused === null).map(({ id }) => id))
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: everything else depends on the days
  useEffect(() => void look(), [days])
  const renew = async () => {
    const reply = await write('POST', '/plus/listings/renew', { ids: chosen.map(Number) })
    if (!reply) return
    dropCachedListings(reply.data.map(({ id }) => id))
    announce(t('renewedCount', { count: reply.data.filter(({ refused }) => refused === null).length }))
    setShown({ rows: reply.data, more: shown?.more ?? false, done: true })
  }
  return (
    <>
      <Heading>{t('listings')}</Heading>
      <ListingTabs current="renewal" />
      <p class="quiet lead">{t('renewalText')}</p>
      <div class="toolbar">
        <search class="filters">
          <label>
            <span>{t('endsWithin')}</span>
            <select value={String(days)} onChange={({ currentTarget: { value } }) => address.set({ days: value })}>
              {[...new Set([...DAYS, days])]
                .sort((a, b) => a - b)
                .map((one) => (
                  <option key={one} value={one}>
                    {t('daysCount', { count: one })}
                  </option>
                ))}
            </select>
          </label>
        </search>
        <div class="actions">
          {shown?.done ? (
            <button type="button" onClick={() => void look()}>
              {t('lookAgain')}
            </button>
          ) : (
            <button type="button" class="main" disabled={busy || chosen.length === 0 || !mayWrite()} onClick={() => void renew()}>
              {t('renewCount', { count: chosen.length })}
            </button>
          )}
        </div>
      </div>
      <Refusal error={error} />
      {shown ? <Rows of={shown} chosen={chosen} choose={choose} /> : busy && <Loading />}
    </>
  )
}

interface RowsProps {
  of: RenewalResult
  chosen: (string | number)[]
  choose: (ids: (string | number)[]) => void
}

function Rows({ of: { rows, more, done }, chosen, choose }: RowsProps) {
  if (rows.length === 0) return <Empty>{t('nothingEnds')}</Empty>
  return (
    <>
      {more && <p class="quiet">{t('moreEnd', { count: rows.length })}</p>}
      <RowPages
        caption={t('renewal')}
        rows={rows}
        rowKey={({ id }) => id}
        {...(!done && { pick: { chosen, choose, nameOf: ({ id }: RenewedListing) => `#${id}` } })}
        columns={[
          { head: t('listing'), width: '36%', cell: ({ id }) => <Named id={id} /> },
          ...(done ? [] : [{ head: t('expires'), width: '16%', short: true, cell: ({ id }: RenewedListing) => <ListingEnd id={id} /> }]),
          { head: done ? t('state') : t('stateAfter'), width: '12%', cell: ({ status }) => (status === null ? '–' : <Status code={status} />) },
          {
            head: done ? t('expires') : t('expiresAfter'),
            width: '16%',
            short: true,
            cell: ({ expires_at: end }) => (end === null ? '–' : moment(end)),
          },
          { head: t('result'), width: '16%', cell: (row) => <Outcome of={row} done={done} /> },
        ]}
      />
    </>
  )
}

function Named({ id }: { id: number }) {
  return (
    <a href={`/desk/listings/${id}`}>
      <ListingTitle id={id} />
    </a>
  )
}

function Outcome({ of: { refused, status }, done }: { of: RenewedListing; done: boolean }) {
  if (refused) {
    return (
      <>
        <Status code="refused" /> {refusalText(refused)}
      </>
    )
  }
  if (status === 'pending') return <span class="quiet">{t('needsApproval')}</span>
  return done ? <Status code="renewed" tone="good" /> : <span class="quiet">{t('withoutApproval')}</span>
}
