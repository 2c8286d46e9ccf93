// Price sources: age of the latest feed, trust in the prices, and setting a source aside and restoring it.
import { useState } from 'preact/hooks'
import { useVersion } from '#ui/data.ts'
import { Dialog, Field, Form, type Values } from '#ui/dialog.tsx'
import { Heading } from '#ui/heading.tsx'
import { Await } from '#ui/states.tsx'
import { Table } from '#ui/table.tsx'
import { announce } from '#ui/toasts.tsx'
import type { PriceSource, SourceTrust } from '../api-types.ts'
import { sourceUseValues as USES } from '../api-values.ts'
import { useData, useWrite, writeNow } from '../api.ts'
import { PermittedButton } from '../ui/permitted-button.tsx'
import { ago, count, date, share, t, termText } from '../words.ts'
import { UsualRatios } from './usual-ratios.tsx'

const REFRESH_MS = 60_000

/** The service's own prices cannot be set aside. */
type External = PriceSource & Pick<SourceTrust, 'market'>
const isExternal = (source: PriceSource): source is External => source.market !== 'service'

export function SourcesPage() {
  const [version, changed] = useVersion()
  const [aside, setAside] = useState<External | null>(null)
  const [edited, setEdited] = useState<PriceSource | null>(null)
  const sources = useData('/sources', { again: () => REFRESH_MS, version })
  const { busy, error, write, clear } = useWrite()
  const submit = async ({ reason = '' }: Values) => {
    const { market } = aside!
    const done = await write('POST', `/sources/${market}/set-aside`, { reason })
    if (!done) return
    setAside(null)
    announce(t('sourceSetAside', { name: termText('market', market), count: done.data.stale }))
    changed()
  }
  const saveTerms = async ({ use = '', licence = '' }: Values) => {
    const { market } = edited!
    const done = await write('PATCH', `/sources/${market}`, { use: use as PriceSource['use'], licence: licence.trim() || null })
    if (!done) return
    setEdited(null)
    announce(t('sourceTermsSaved', { name: termText('market', market), use: termText('use', done.data.use) }))
    changed()
  }
  const takeBack = async ({ market }: External) => {
    const done = await writeNow('POST', `/sources/${market}/restore`, {})
    if (!done) return
    announce(t('sourceUsedAgain', { name: termText('market', market), count: done.data.stale }))
    changed()
  }
  return (
    <>
      <Heading>{t('priceSources')}</Heading>
      <p class="quiet">{t('priceSourcesText')}</p>
      <Await of={sources}>
        {(rows) => (
          <Table
            caption={t('priceSources')}
            rows={rows}
            busy={sources.loading}
            rowKey={(row) => row.market}
            columns={[
              { head: t('source'), cell: (row) => <Name of={row} /> },
              {
                head: t('sourceUse'),
                cell: (row) => (
                  <>
                    {termText('use', row.use)}
                    {row.licence !== null && <div class="quiet">{row.licence}</div>}{' '}
                    <PermittedButton
                      need="catalogue"
                      aria-label={t('editSourceTerms', { name: termText('market', row.market) })}
                      onClick={() => {
                        clear()
                        setEdited(row)
                      }}
                    >
                      {t('edit')}
                    </PermittedButton>
                  </>
                ),
              },
              { head: t('newestFeed'), cell: (row) => <Feed of={row} /> },
              { head: t('pricesCount'), number: true, cell: (row) => count(row.prices) },
              { head: t('confirmed'), number: true, cell: (row) => part(row, 'confirmed') },
              { head: termText('status', 'trusted'), number: true, cell: (row) => part(row, 'trusted') },
              ...(['disputed', 'stale', 'held'] as const).map((state) => ({
                head: termText('status', state),
                number: true,
                cell: (row: PriceSource) => <InQuestion of={row} state={state} />,
              })),
              {
                head: t('actions'),
                cell: (row) =>
                  isExternal(row) &&
                  (row.set_aside ? (
                    <PermittedButton
                      need="catalogue"
                      aria-label={`${t('useAgain')}: ${termText('market', row.market)}`}
                      onClick={() => void takeBack(row)}
                    >
                      {t('useAgain')}
                    </PermittedButton>
                  ) : (
                    <PermittedButton
                      need="catalogue"
                      class="danger"
                      aria-label={`${t('setAside')}: ${termText('market', row.market)}`}
                      onClick={() => {
                        clear()
                        setAside(row)
                      }}
                    >
                      {t('setAside')}
                    </PermittedButton>
                  )),
              },
            ]}
          />
        )}
      </Await>
      {/* Below the table only once it is there: it would move down. */}
      {sources.data && <UsualRatios />}
      {edited && (
        <Dialog title={t('editSourceTerms', { name: termText('market', edited.market) })} onClose={() => setEdited(null)}>
          <Form submit={t('save')} busy={busy} error={error} onSubmit={(values) => void saveTerms(values)} onCancel={() => setEdited(null)}>
            <Field label={t('sourceUse')} hint={t('sourceUseHint')}>
              <select name="use">
                {USES.map((use) => (
                  <option key={use} value={use} selected={use === edited.use}>
                    {termText('use', use)}
                  </option>
                ))}
              </select>
            </Field>
            <Field label={t('licence')}>
              <input name="licence" maxLength={500} defaultValue={edited.licence ?? ''} />
            </Field>
          </Form>
        </Dialog>
      )}
      {aside && (
        <Dialog title={t('setAsideTitle', { name: termText('market', aside.market) })} onClose={() => setAside(null)}>
          <Form submit={t('setAside')} danger busy={busy} error={error} onSubmit={(values) => void submit(values)} onCancel={() => setAside(null)}>
            <p>{t('setAsideText', { count: aside.prices })}</p>
            <Field label={t('reason')} hint={t('setAsideHint')}>
              <input name="reason" maxLength={500} required />
            </Field>
          </Form>
        </Dialog>
      )}
    </>
  )
}

/** The name, and who has set the source aside. */
function Name({ of: { market, currency, set_aside: aside } }: { of: PriceSource }) {
  return (
    <>
      {termText('market', market)} <span class="quiet">{currency}</span>
      {aside && (
        <div class="quiet">
          <span class="status bad">{t('isSetAside')}</span> {aside.reason} ({aside.by}, {date(aside.at)})
        </div>
      )}
    </>
  )
}

/** Age of the latest feed, relative to the usual interval. */
function Feed({ of: { newest_feed_at: at, usual_interval_days: interval, late } }: { of: PriceSource }) {
  if (at === null) return <span class="status">{t('never')}</span>
  return (
    <>
      <span class={`status ${late ? 'wait' : 'good'}`} title={date(at)}>
        {late ? t('feedLate', { ago: ago(at) }) : ago(at)}
      </span>{' '}
      {interval !== null && <span class="quiet">{interval === 1 ? t('usuallyDaily') : t('usuallyEvery', { days: interval })}</span>}
    </>
  )
}

function part({ prices, shares }: PriceSource, state: 'confirmed' | 'trusted'): string {
  return prices === 0 ? '–' : share(shares[state])
}

/** Number and share of prices under review, with a link to them. */
function InQuestion({ of: source, state }: { of: PriceSource; state: 'disputed' | 'stale' | 'held' }) {
  const prices = source[state]
  if (prices === 0) return <>0</>
  return (
    <a href={`/console/price-reviews?state=${state}&market=${source.market}`}>
      {count(prices)} <span class="quiet">({share(source.shares[state])})</span>
    </a>
  )
}
