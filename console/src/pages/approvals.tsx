// The approval queue, oldest first: each listing with its card, reference prices and the seller's history, decided by keyboard.
import { useEffect, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { type ApiError, newKey } from '#ui/api.ts'
import { asApiError } from '#ui/data.ts'
import { isAllowed, request, useData } from '../api.ts'
import type { ListingDecision, WaitingListing } from '../api-types.ts'
import { confirm } from '#ui/dialog.tsx'
import { forEachRow } from '../ui/bulk.tsx'
import { Grade } from '../ui/grade.tsx'
import { Heading } from '#ui/heading.tsx'
import { ChangedMeanwhile } from '../ui/listing-changes.tsx'
import { accounts, items } from '../ui/sources.ts'
import { useSequentialWrites, useQueue } from '../ui/queue.ts'
import { Empty, Failure, Loading } from '#ui/states.tsx'
import { ChooseAll, Pages, toggled, useFilters } from '#ui/table.tsx'
import { announce } from '#ui/toasts.tsx'
import { PermittedButton } from '../ui/permitted-button.tsx'
import { pictureAddress } from '../ui/picture.tsx'
import { ago, count, lira, sentence, t, termText } from '../words.ts'
import { ApprovalTabs } from './approval-rules.tsx'
import { presetReasons, RefusalDialog, type RefusalKind } from '../ui/refusal-dialog.tsx'
import { ListingComparison } from './listing.tsx'

const SHOWN = 50
/** Following rows whose pictures are preloaded. */
const AHEAD = 2

type Decision = ListingDecision['decision']
const PATHS = { approve: 'approve', reject: 'reject', request_change: 'request-change' } as const
const DONE = { approve: 'approvedCount', reject: 'rejectedCount', request_change: 'changeRequestedCount' } as const

export function ApprovalsPage() {
  const { values, page, filtered, bar, link } = useFilters([
    { name: 'search', label: t('title'), type: 'search' },
    { name: 'seller_id', label: t('seller'), picker: accounts },
    { name: 'item_id', label: t('item'), picker: items },
  ])
  const { applying, apply } = useSequentialWrites()
  const paused = applying > 0
  const queue = useData('/listings/waiting', { query: { ...values, page, per_page: SHOWN }, paused })
  const decisions = useData('/listing-decisions', { query: { mine: 1, undoable: 1, per_page: SHOWN }, paused, again: untilOver })
  const last = decisions.data?.[0]
  const undoable = lastTogether(decisions.data ?? [])
  const { url } = useLocation()
  const [chosen, setChosen] = useState<number[]>([])
  /** decided on this page; the loaded queue may still contain them */
  const [decided, setDecided] = useState<number[]>([])
  const [refusing, setRefusing] = useState<RefusalKind | null>(null)
  const [error, setError] = useState<ApiError | null>(null)
  /** listings that changed before the decision, as they were displayed */
  const [outdated, setOutdated] = useState<WaitingListing[]>([])
  /** listing to show when the new queue has loaded */
  const [next, setNext] = useState<number | null>(null)
  const [reason, setReason] = useState('')

  const rows = (queue.data ?? []).filter((row) => !decided.includes(row.id))
  const { whole, list, current, show, onKey } = useQueue(rows, (row) => row.id)
  // A newer queue no longer has the decided listings, or has them because they are pending again.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another answer is a newer queue
  useEffect(() => {
    setDecided([])
    const place = queue.data?.findIndex((row) => row.id === next) ?? -1
    if (place >= 0) show(place)
    setNext(null)
  }, [queue.data])
  // The selection only refers to rows of the current page.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another address is another page
  useEffect(() => {
    setChosen([])
    setOutdated([])
  }, [url])
  const ahead = current ? rows.slice(rows.indexOf(current) + 1).slice(0, AHEAD) : []
  const addresses = ahead.flatMap(picturesOf).join(' ')
  useEffect(() => {
    for (const src of addresses.split(' ').filter(Boolean)) Object.assign(new Image(), { src })
  }, [addresses])
  /** the listings that a decision applies to: the selected ones, else the displayed one */
  const subjects = chosen.length > 0 ? rows.filter((row) => chosen.includes(row.id)) : current ? [current] : []
  const many = chosen.length

  /** The next listing is displayed at once; decisions are sent one after another. `settle` receives the last failure. */
  const decide = (decision: Decision, body: object, settle = tell) => {
    const about = subjects
    const ids = about.map(({ id }) => id)
    setError(null)
    // While a dialog is open, the listing stays until it is decided, so that focus moves to the next one when the dialog closes.
    if (!refusing) setDecided((earlier) => [...earlier, ...ids])
    setOutdated((earlier) => earlier.filter(({ id }) => !ids.includes(id)))
    storeTogether(ids)
    void apply(async () => {
      let failure: ApiError | null = null
      const left: number[] = []
      const changedNow: WaitingListing[] = []
      for (const row of about) {
        try {
          await request('POST', `/listings/${row.id}/${PATHS[decision]}`, { json: body, idempotencyKey: newKey(), ifMatch: row.etag })
        } catch (thrown) {
          left.push(row.id)
          const refused = asApiError(thrown)
          if (refused.status === 412) changedNow.push(row)
          else failure = refused
        }
      }
      setDecided((earlier) => [...earlier, ...ids].filter((id) => !left.includes(id)))
      setOutdated((earlier) => [...earlier, ...changedNow])
      if (changedNow[0]) setNext(changedNow[0].id)
      // A changed listing must be reviewed again before a decision.
      setChosen((earlier) => earlier.filter((id) => !ids.includes(id) || (left.includes(id) && !changedNow.some((row) => row.id === id))))
      settle(failure)
      if (left.length < about.length) announce(t(DONE[decision], { count: about.length - left.length }))
      if (changedNow.length === 0 && failure === null) setReason('')
    })
  }
  const approve = async () => {
    const asked = { title: t('approveTitle', { count: many }), text: t('approveText'), action: t('approve'), danger: false }
    if (subjects.length > 0 && (many < 2 || (await confirm(asked)))) decide('approve', {})
  }
  const rejectWith = (preset: string) => decide('reject', { reason: preset })
  const undo = () => {
    // Until the next response, the loaded last decision may not be the latest.
    if (!last || decisions.loading) return
    void apply(async () => {
      const done = await forEachRow(undoable, (row) => request('POST', `/listings/${row.listing_id}/undo-decision`, { idempotencyKey: newKey() }))
      if (done.length === 0) return
      announce(done.length > 1 ? t('decisionsUndone', { count: done.length }) : t('decisionUndoneOf', { title: titleOf(done[0]!) }))
      setNext(done.at(-1)!.listing_id)
    })
  }
  const presets = presetReasons()
  onKey((event) => {
    if (!isAllowed('market')) return
    if (event.key === 'u' && last) return undo
    if (!current) return
    const preset = presets[Number(/^Digit([1-9])$/.exec(event.code)?.[1] ?? 0) - 1]
    if (preset && many === 0) return () => rejectWith(preset)
    const act: Record<string, () => void> = {
      x: () => setChosen(toggled(chosen, current.id)),
      a: () => void approve(),
      r: () => setRefusing('reject'),
      c: () => setRefusing('request_change'),
    }
    return act[event.key]
  })

  return (
    <div ref={whole}>
      <div class="head stays">
        <Heading>
          {t('approvals')} {queue.pagination && <span class="quiet">{count(queue.pagination.total)}</span>}
        </Heading>
        <div class="actions">
          <PermittedButton need="market" class="main" disabled={subjects.length === 0} aria-keyshortcuts="a" onClick={() => void approve()}>
            {many > 0 ? t('approveCount', { count: many }) : t('approve')} <kbd>A</kbd>
          </PermittedButton>
          <PermittedButton need="market" disabled={subjects.length === 0} aria-keyshortcuts="c" onClick={() => setRefusing('request_change')}>
            {many > 0 ? t('requestChangeCount', { count: many }) : t('requestChange')} <kbd>C</kbd>
          </PermittedButton>
          <PermittedButton need="market" class="danger" disabled={subjects.length === 0} aria-keyshortcuts="r" onClick={() => setRefusing('reject')}>
            {many > 0 ? t('rejectCount', { count: many }) : t('reject')} <kbd>R</kbd>
          </PermittedButton>
        </div>
      </div>
      <ApprovalTabs current="queue" />
      <div class="toolbar">{bar}</div>
      {isAllowed('market') && <p class="quiet keys">{t('approvalKeys')}</p>}
      <p class="quiet keys" role="status">
        {applying > 0 && t('decisionsApplying', { count: applying })}
      </p>
      {last && (
        <p class="last">
          {undoable.length > 1
            ? t(DONE[last.decision], { count: undoable.length })
            : `${termText('listingDecision', last.decision)}: ${titleOf(last)}`}{' '}
          <button type="button" aria-keyshortcuts="u" disabled={decisions.loading} onClick={undo}>
            {t('undo')} <kbd>U</kbd>
          </button>
        </p>
      )}
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
        <Loading />
      ) : !current ? (
        <Empty>{filtered ? t('nothingMatches') : t('noApprovals')}</Empty>
      ) : (
        <div class="queue">
          <div class="rows">
            {isAllowed('market') && (
              // biome-ignore lint/a11y/noLabelWithoutControl: the control is inside the label
              <label class="check">
                <ChooseAll keys={rows.map((row) => row.id)} chosen={chosen} choose={setChosen} /> {t('chooseAll')}
              </label>
            )}
            <ul ref={list} aria-label={t('approvals')}>
              {rows.map((row, index) => (
                <li key={row.id} aria-current={row.id === current.id ? 'true' : undefined}>
                  {isAllowed('market') && (
                    <input
                      type="checkbox"
                      aria-label={t('chooseRow', { name: row.title })}
                      checked={chosen.includes(row.id)}
                      onChange={() => setChosen(toggled(chosen, row.id))}
                    />
                  )}
                  <button type="button" class="plain" onClick={() => show(index)}>
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
            <ListingComparison key={current.id} listing={current} review={current.review} />
            {many === 0 && isAllowed('market') && (
              <section class="presets" aria-label={t('rejectWith')}>
                <h3>{t('rejectWith')}</h3>
                {presets.map((preset, n) => (
                  <PermittedButton need="market" key={preset} aria-keyshortcuts={String(n + 1)} onClick={() => rejectWith(preset)}>
                    <kbd>{n + 1}</kbd> {preset}
                  </PermittedButton>
                ))}
              </section>
            )}
          </article>
        </div>
      )}
      {queue.pagination && <Pages of={queue.pagination} link={link} />}
      {refusing && (
        <RefusalDialog
          kind={refusing}
          count={subjects.length}
          busy={applying > 0}
          error={error}
          reason={reason}
          onRefuse={(text) => {
            setReason(text)
            decide(refusing, refusing === 'reject' ? { reason: text } : { note: text }, (failure) => {
              setError(failure)
              if (!failure) setRefusing(null)
            })
          }}
          onClose={() => {
            setRefusing(null)
            setError(null)
          }}
        />
      )}
    </div>
  )
}

function tell(failure: ApiError | null): void {
  if (failure) announce(sentence(failure), 'bad')
}

function titleOf({ title, listing_id: id }: ListingDecision): string {
  return title ?? `#${id}`
}

const TOGETHER_KEY = 'mintmark-decided-together'
/** More than a person decides while a decision can be undone. */
const MAX_TOGETHER = 100

/** Listings that were decided with one key press, newest first; they outlive a reload, as the offer to undo does. */
function together(): number[][] {
  try {
    return JSON.parse(sessionStorage.getItem(TOGETHER_KEY) ?? '[]') as number[][]
  } catch {
    return []
  }
}

function storeTogether(ids: number[]): void {
  try {
    sessionStorage.setItem(TOGETHER_KEY, JSON.stringify([ids, ...together()].slice(0, MAX_TOGETHER)))
  } catch {
    // If the browser does not store anything, decisions are undone one by one.
  }
}

/** Of decisions, newest first: the last one with those made by the same key press. */
function lastTogether(decisions: readonly ListingDecision[]): ListingDecision[] {
  const groups = together()
  const groupOf = ({ listing_id: id }: ListingDecision) => groups.find((ids) => ids.includes(id))
  return decisions.filter((row, n) => n === 0 || (groupOf(row) !== undefined && groupOf(row) === groupOf(decisions[0]!)))
}

const SOON_MS = 1_000

/** Milliseconds until the last decision can no longer be undone. */
function untilOver([last]: ListingDecision[]): number | null {
  return last?.undo_until ? Math.max(SOON_MS, Date.parse(last.undo_until) - Date.now()) : null
}

function picturesOf({ images, review }: WaitingListing): string[] {
  return [...images, ...review.item.images.toSorted((a, b) => a.order - b.order).slice(0, 1)].map(({ url }) => pictureAddress(url))
}
