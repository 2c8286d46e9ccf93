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
import { ChangedMeanwhile } from '../ui/listing-changes.tsx'
import { accounts, items } from '../ui/sources.ts'
import { type Act, ActButtons, QueuePage, useDecisions, useSequentialWrites } from '../ui/queue.tsx'
import { type Filtered, toggled, useFilters } from '#ui/table.tsx'
import { announce } from '#ui/toasts.tsx'
import { PermittedButton } from '../ui/permitted-button.tsx'
import { pictureAddress } from '../ui/picture.tsx'
import { ago, lira, sentence, t, termText } from '../words.ts'
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
  const filters = useFilters([
    { name: 'search', label: t('title'), type: 'search' },
    { name: 'seller_id', label: t('seller'), picker: accounts },
    { name: 'item_id', label: t('item'), picker: items },
  ])
  const { queue, chosen, choose, subjects, outdated, decide, last, reason, setReason } = useApprovals(filters)
  const { rows, current } = queue
  const [refusing, setRefusing] = useState<RefusalKind | null>(null)
  const [error, setError] = useState<ApiError | null>(null)
  const ahead = current ? rows.slice(rows.indexOf(current) + 1).slice(0, AHEAD) : []
  const addresses = ahead.flatMap(picturesOf).join(' ')
  useEffect(() => {
    for (const src of addresses.split(' ').filter(Boolean)) Object.assign(new Image(), { src })
  }, [addresses])
  const many = chosen.length
  const approve = async () => {
    const question = { title: t('approveTitle', { count: many }), text: t('approveText'), action: t('approve'), danger: false }
    if (subjects.length > 0 && (many < 2 || (await confirm(question)))) decide('approve', {})
  }
  const rejectWith = (preset: string) => decide('reject', { reason: preset })
  const refuse = (kind: RefusalKind, text: string) => {
    setReason(text)
    setError(null)
    decide(kind, kind === 'reject' ? { reason: text } : { note: text }, (failure) => {
      setError(failure)
      if (!failure) setRefusing(null)
    })
  }
  const presets = presetReasons()
  const textOf = (one: 'approve' | 'requestChange' | 'reject') => (many > 0 ? t(`${one}Count`, { count: many }) : t(one))
  const acts: Act[] = [
    { key: 'a', text: textOf('approve'), class: 'main', run: () => void approve() },
    { key: 'c', text: textOf('requestChange'), run: () => setRefusing('request_change') },
    { key: 'r', text: textOf('reject'), class: 'danger', run: () => setRefusing('reject') },
  ]
  queue.onKey(({ key, code }) => {
    if (!isAllowed('market')) return
    if (key === 'u' && last) return last.undo
    if (!current) return
    const preset = presets[Number(/^Digit([1-9])$/.exec(code)?.[1] ?? 0) - 1]
    if (preset && many === 0) return () => rejectWith(preset)
    if (key === 'x') return () => choose(toggled(chosen, current.id))
    return acts.find((act) => act.key === key)?.run
  })

  const elsewhere = outdated
    .filter((row) => row.id !== current?.id)
    .map((row) => (
      <p key={row.id} class="refusal" role="alert">
        {t('changedMeanwhileIn', { title: row.title })} <a href={`/console/listings/${row.id}`}>{t('show')}</a>
      </p>
    ))
  const dialog = refusing && (
    <RefusalDialog
      key="refusal"
      kind={refusing}
      count={subjects.length}
      busy={queue.applying > 0}
      error={error}
      reason={reason}
      onRefuse={(text) => refuse(refusing, text)}
      onClose={() => {
        setRefusing(null)
        setError(null)
      }}
    />
  )
  return (
    <QueuePage
      of={queue}
      filters={filters}
      title={t('approvals')}
      need="market"
      tabs={<ApprovalTabs current="queue" />}
      actions={<ActButtons need="market" acts={acts} disabled={subjects.length === 0} />}
      keys={t('approvalKeys')}
      last={last}
      notices={[...elsewhere, dialog]}
      empty={t('noApprovals')}
      pick={{ chosen, choose }}
      line={(row) => (
        <>
          <span>{row.title}</span>
          <small>
            {lira(row.price)} · <Grade id={row.grade_id} /> · {ago(row.waiting_since ?? row.created_at)}
            {(row.changed_since_approval?.length ?? 0) > 0 && <span class="status wait">{t('changed')}</span>}
            {row.review.photo_of_other_seller && <span class="status wait">{t('photoOfOtherSeller')}</span>}
            {row.review.certificate?.conflict && <span class="status wait">{t('certificateTaken')}</span>}
            {row.review.linked_pictures.some(({ problem }) => problem !== null) && <span class="status wait">{t('pictureNotCopied')}</span>}
          </small>
        </>
      )}
    >
      {(listing) => (
        <>
          <h2>
            <a href={`/console/listings/${listing.id}`}>{listing.title}</a>
          </h2>
          {outdated
            .filter((row) => row.id === listing.id)
            .map((row) => (
              <ChangedMeanwhile key={row.id} seen={row} now={listing} />
            ))}
          <ListingComparison key={listing.id} listing={listing} review={listing.review} />
          {many === 0 && isAllowed('market') && <Presets of={presets} onChosen={rejectWith} />}
        </>
      )}
    </QueuePage>
  )
}

/** The listings to approve: the selection, decisions about one or many, and undo. */
function useApprovals({ values, page }: Filtered) {
  const writes = useSequentialWrites()
  const paused = writes.applying > 0
  const loaded = useData('/listings/waiting', { query: { ...values, page, per_page: SHOWN }, paused })
  const decisions = useData('/listing-decisions', { query: { mine: 1, undoable: 1, per_page: SHOWN }, paused, again: untilOver })
  const latest = decisions.data?.[0]
  const undoable = lastTogether(decisions.data ?? [])
  const { url } = useLocation()
  const [chosen, choose] = useState<(string | number)[]>([])
  /** listings that changed before the decision, as they were displayed */
  const [outdated, setOutdated] = useState<WaitingListing[]>([])
  /** listing to show when the new queue has loaded */
  const [next, setNext] = useState<number | null>(null)
  const [reason, setReason] = useState('')
  const queue = useDecisions(
    loaded,
    writes,
    (row) => row.id,
    (row) => row.title,
  )
  const { rows, current, hide, reveal } = queue
  // biome-ignore lint/correctness/useExhaustiveDependencies: another answer is a newer queue
  useEffect(() => {
    const place = loaded.data?.findIndex((row) => row.id === next) ?? -1
    if (place >= 0) queue.show(place)
    setNext(null)
  }, [loaded.data])
  // The selection only refers to rows of the current page.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another address is another page
  useEffect(() => {
    choose([])
    setOutdated([])
  }, [url])
  /** the listings that a decision applies to: the selected ones, else the displayed one */
  const subjects = chosen.length > 0 ? rows.filter((row) => chosen.includes(row.id)) : current ? [current] : []

  /** The next listing is displayed at once; decisions are sent one after another. `settle`, of a dialog, receives the last failure. */
  const decide = (decision: Decision, body: object, settle?: (failure: ApiError | null) => void) => {
    const about = subjects
    const ids = about.map(({ id }) => id)
    // While a dialog is open, the listing stays until it is decided, so that focus moves to the next one when the dialog closes.
    if (!settle) hide(ids)
    setOutdated((earlier) => earlier.filter(({ id }) => !ids.includes(id)))
    storeTogether(ids)
    void writes.apply(async () => {
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
      hide(ids)
      reveal(left)
      setOutdated((earlier) => [...earlier, ...changedNow])
      if (changedNow[0]) setNext(changedNow[0].id)
      // A changed listing must be reviewed again before a decision.
      choose((earlier) =>
        earlier.filter((id) => !about.some((row) => row.id === id) || (left.includes(Number(id)) && !changedNow.some((row) => row.id === id))),
      )
      if (settle) settle(failure)
      else if (failure) announce(sentence(failure), 'bad')
      if (left.length < about.length) announce(t(DONE[decision], { count: about.length - left.length }))
      if (changedNow.length === 0 && failure === null) setReason('')
    })
  }
  const undo = () => {
    // Until the next response, the loaded last decision may not be the latest.
    if (decisions.loading) return
    void writes.apply(async () => {
      const done = await forEachRow(undoable, (row) => request('POST', `/listings/${row.listing_id}/undo-decision`, { idempotencyKey: newKey() }))
      if (done.length === 0) return
      announce(done.length > 1 ? t('decisionsUndone', { count: done.length }) : t('decisionUndoneOf', { title: titleOf(done[0]!) }))
      setNext(done.at(-1)!.listing_id)
    })
  }
  const last = latest && {
    text:
      undoable.length > 1
        ? t(DONE[latest.decision], { count: undoable.length })
        : `${termText('listingDecision', latest.decision)}: ${titleOf(latest)}`,
    undo,
    disabled: decisions.loading,
  }
  return { queue, chosen, choose, subjects, outdated, decide, last, reason, setReason }
}

function Presets({ of: presets, onChosen }: { of: string[]; onChosen: (preset: string) => void }) {
  return (
    <section class="presets" aria-label={t('rejectWith')}>
      <h3>{t('rejectWith')}</h3>
      {presets.map((preset, n) => (
        <PermittedButton need="market" key={preset} aria-keyshortcuts={String(n + 1)} onClick={() => onChosen(preset)}>
          <kbd>{n + 1}</kbd> {preset}
        </PermittedButton>
      ))}
    </section>
  )
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
