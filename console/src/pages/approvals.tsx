// The approval queue, oldest first: the listing beside its card, decided by keyboard, one or many at a time.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { type ApiError, newKey } from '#ui/api.ts'
import { asApiError, useVersion } from '#ui/data.ts'
import { confirmed } from '#ui/dialog.tsx'
import { Heading } from '#ui/heading.tsx'
import { Empty, Failure, Refusal, Waiting } from '#ui/states.tsx'
import { ChooseAll, Pages, toggled, useFilters } from '#ui/table.tsx'
import { announce } from '#ui/toasts.tsx'
import { request, useData } from '../api.ts'
import type { StoredListing } from '../api-types.ts'
import { Grade } from '../ui/grade.tsx'
import { useKeysWithin } from '../ui/keys-within.ts'
import { ChangedMeanwhile } from '../ui/listing-changes.tsx'
import { ago, count, lira, t } from '../words.ts'
import { ListingBeside, RejectDialog } from './listing.tsx'

const SHOWN = 25

export function ApprovalsPage() {
  const [version, changed] = useVersion()
  const { values, page, filtered, bar, link } = useFilters([
    { name: 'search', label: t('title'), type: 'search' },
    { name: 'seller_id', label: t('sellerId'), type: 'number' },
    { name: 'item_id', label: t('itemId'), type: 'number' },
  ])
  const queue = useData('/listings/waiting', { query: { ...values, page, per_page: SHOWN }, version })
  const { url } = useLocation()
  const [at, setAt] = useState(0)
  const [chosen, setChosen] = useState<number[]>([])
  /** decided here, though the queue that is shown may be older */
  const [decided, setDecided] = useState<number[]>([])
  const [rejecting, setRejecting] = useState(false)
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<ApiError | null>(null)
  /** listings that changed before they were decided, as they were shown then */
  const [outdated, setOutdated] = useState<StoredListing[]>([])
  /** of these the one to show when the newer queue is there */
  const [next, setNext] = useState<number | null>(null)
  const [reason, setReason] = useState('')
  const list = useRef<HTMLUListElement>(null)
  const whole = useRef<HTMLDivElement>(null)

  // A newer queue is without them, or they wait again.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another answer is a newer queue
  useEffect(() => {
    setDecided([])
    const place = queue.data?.findIndex((row) => row.id === next) ?? -1
    if (place >= 0) setAt(place)
    setNext(null)
  }, [queue.data])
  // What is chosen is on the page that is shown, which is read from its beginning.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another address is another page
  useEffect(() => {
    setChosen([])
    setAt(0)
    setOutdated([])
  }, [url])
  const rows = (queue.data ?? []).filter((row) => !decided.includes(row.id))
  const current = rows[Math.min(at, rows.length - 1)]
  /** what a decision is about: the chosen ones, else the one that is shown */
  const subjects = chosen.length > 0 ? rows.filter((row) => chosen.includes(row.id)) : current ? [current] : []
  const many = chosen.length

  const decide = async (decision: 'approve' | 'reject', body: object): Promise<void> => {
    setBusy(true)
    setError(null)
    const done: number[] = []
    const changedNow: StoredListing[] = []
    let failure: ApiError | null = null
    for (const row of subjects) {
      try {
        await request('POST', `/listings/${row.id}/${decision}`, { json: body, idempotencyKey: newKey(), ifMatch: row.etag })
        done.push(row.id)
      } catch (thrown) {
        const refused = asApiError(thrown)
        if (refused.status === 412) {
          changedNow.push(row)
          continue
        }
        failure = refused
        if (failure.status === 0 || failure.status === 401) break
      }
    }
    const judgedIds = [...done, ...changedNow.map((row) => row.id)]
    setBusy(false)
    setError(failure)
    setDecided((earlier) => [...earlier, ...done])
    setOutdated((earlier) => [...earlier.filter((row) => !judgedIds.includes(row.id)), ...changedNow])
    setNext(changedNow[0]?.id ?? null)
    // What has changed has to be looked at before it is decided.
    setChosen((earlier) => earlier.filter((id) => !judgedIds.includes(id)))
    if (done.length > 0) announce(t(decision === 'approve' ? 'approvedCount' : 'rejectedCount', { count: done.length }))
    if (failure && decision === 'reject') return
    setRejecting(false)
    if (changedNow.length === 0) setReason('')
    changed()
  }
  const approve = async () => {
    const asked = { title: t('approveTitle', { count: many }), text: t('approveText'), action: t('approve'), danger: false }
    if (subjects.length > 0 && (many < 2 || (await confirmed(asked)))) await decide('approve', {})
  }
  const move = (to: number) => setAt(Math.max(0, Math.min(to, rows.length - 1)))
  const toggle = (id: number) => setChosen(toggled(chosen, id))

  const onKey = (event: KeyboardEvent) => {
    const { target } = event
    const typing =
      target instanceof HTMLTextAreaElement ||
      (target instanceof HTMLInputElement && target.type !== 'checkbox') ||
      target instanceof HTMLSelectElement ||
      document.querySelector('dialog[open]')
    if (typing || busy || event.ctrlKey || event.metaKey || event.altKey || !current) return
    const act: Record<string, () => void> = {
      j: () => move(at + 1),
      ArrowDown: () => move(at + 1),
      k: () => move(at - 1),
      ArrowUp: () => move(at - 1),
      x: () => toggle(current.id),
      a: () => void approve(),
      r: () => setRejecting(true),
    }
    const run = act[event.key]
    if (!run) return
    event.preventDefault()
    run()
  }
  useKeysWithin(whole, onKey)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another listing is another current row
  useLayoutEffect(() => {
    const row = list.current?.querySelector<HTMLElement>('[aria-current] button')
    const { activeElement } = document
    // Whoever is elsewhere on the page is not called away.
    if (row && (activeElement?.contains(row) || list.current?.contains(activeElement))) row.focus()
  }, [current?.id])

  return (
    <div ref={whole}>
      <div class="head stays">
        <Heading>
          {t('approvals')} {queue.pagination && <span class="quiet">{count(queue.pagination.total)}</span>}
        </Heading>
        <div class="actions">
          <button type="button" class="main" disabled={busy || subjects.length === 0} aria-keyshortcuts="a" onClick={() => void approve()}>
            {many > 0 ? t('approveCount', { count: many }) : t('approve')} <kbd>A</kbd>
          </button>
          <button type="button" class="danger" disabled={busy || subjects.length === 0} aria-keyshortcuts="r" onClick={() => setRejecting(true)}>
            {many > 0 ? t('rejectCount', { count: many }) : t('reject')} <kbd>R</kbd>
          </button>
        </div>
      </div>
      <div class="toolbar">
        {bar}
        <p class="quiet keys">{t('approvalKeys')}</p>
      </div>
      {!rejecting && <Refusal error={error} />}
      {outdated
        .filter((row) => row.id !== current?.id)
        .map((row) => (
          <p key={row.id} class="refusal" role="alert">
            {t('changedMeanwhileIn', { title: row.title })} <a href={`/console/listings/${row.id}`}>{t('show')}</a>
          </p>
        ))}
      {queue.error ? (
        <Failure error={queue.error} retry={queue.reload} />
      ) : !queue.data || (rows.length === 0 && queue.loading) ? (
        <Waiting />
      ) : !current ? (
        <Empty>{filtered ? t('nothingMatches') : t('noApprovals')}</Empty>
      ) : (
        <div class="queue">
          <div class="rows">
            {/* biome-ignore lint/a11y/noLabelWithoutControl: the control is within */}
            <label class="check">
              <ChooseAll keys={rows.map((row) => row.id)} chosen={chosen} choose={setChosen} /> {t('chooseAll')}
            </label>
            <ul ref={list} aria-label={t('approvals')}>
              {rows.map((row, index) => (
                <li key={row.id} aria-current={row.id === current.id ? 'true' : undefined}>
                  <input
                    type="checkbox"
                    aria-label={t('chooseRow', { name: row.title })}
                    checked={chosen.includes(row.id)}
                    onChange={() => toggle(row.id)}
                  />
                  <button type="button" class="plain" onClick={() => setAt(index)}>
                    <span>{row.title}</span>
                    <small>
                      {lira(row.price)} · <Grade id={row.grade_id} /> · {ago(row.waiting_since ?? row.created_at)}
                      {(row.changed_since_approval?.length ?? 0) > 0 && <span class="status wait">{t('changed')}</span>}
                    </small>
                  </button>
                </li>
              ))}
            </ul>
          </div>
          <article aria-label={current.title} aria-live="polite">
            <h2>
              <a href={`/console/listings/${current.id}`}>{current.title}</a>
            </h2>
            {outdated
              .filter((row) => row.id === current.id)
              .map((row) => (
                <ChangedMeanwhile key={row.id} seen={row} now={current} />
              ))}
            <ListingBeside key={current.id} listing={current} />
          </article>
        </div>
      )}
      {queue.pagination && <Pages of={queue.pagination} link={link} />}
      {rejecting && (
        <RejectDialog
          count={subjects.length}
          busy={busy}
          error={error}
          reason={reason}
          onReject={(values) => {
            setReason(values.reason!)
            void decide('reject', { reason: values.reason })
          }}
          onClose={() => {
            setRejecting(false)
            setError(null)
          }}
        />
      )}
    </div>
  )
}
