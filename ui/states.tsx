// Placeholders for data that is loading, empty or failed, and small status marks for rows.
import inbox from './icons/inbox.svg?raw'
import type { ComponentChildren } from 'preact'
import type { ApiError } from './api.ts'
import type { Loaded } from './data.ts'
import { count, fieldName, type RefusalReason, refusalText, sentence, t, termText } from './words.ts'
import { Heading } from './heading.tsx'
import { Icon } from './icon.tsx'

export function Failure({ error, retry }: { error: ApiError; retry?: () => void }) {
  return (
    <div class="state bad" role="alert">
      <p>
        <strong>{error.status === 0 ? t('offline') : error.status === 404 ? t('notThere') : t('failed')}</strong>
      </p>
      <Problems of={error} />
      {retry && error.status !== 404 && (
        <button type="button" onClick={retry}>
          {t('tryAgain')}
        </button>
      )}
    </div>
  )
}

/** Why a request was rejected. */
export function Refusal({ error }: { error: ApiError | null }) {
  return (
    error && (
      <div class="refusal" role="alert">
        <Problems of={error} />
      </div>
    )
  )
}

function Problems({ of: error }: { of: ApiError }) {
  if (error.details.length === 0) return <p>{sentence(error)}</p>
  return (
    <ul>
      {error.details.map((problem) => (
        <li key={problem.field}>
          <FieldProblem of={problem} />
        </li>
      ))}
    </ul>
  )
}

/** A validation problem, starting with the name of the field. */
export function FieldProblem({ of: { field, ...why } }: { of: RefusalReason & { field: string } }) {
  return (
    <>
      <strong>{fieldName(field)}</strong> {refusalText(why)}
    </>
  )
}

/** Empty state. The first line of the text says that there is nothing; the next says what belongs here and what to do. */
export function Empty({ children }: { children: ComponentChildren }) {
  const [first, hint] = typeof children === 'string' ? children.split('\n', 2) : [children]
  return (
    <div class="state empty">
      <Icon of={inbox} />
      <p>{first}</p>
      {hint && <p class="quiet">{hint}</p>}
    </div>
  )
}

export function Loading() {
  return (
    <div class="state" aria-busy="true">
      {t('loading')}
    </div>
  )
}

interface AwaitProps<T> {
  of: Loaded<T>
  /** heading of the page until the data with its own heading has loaded */
  title?: string
  children: (data: T) => ComponentChildren
}

/** Shows the data, or its loading or error state. */
export function Await<T>({ of, title, children }: AwaitProps<T>) {
  if (of.data !== null) return <>{children(of.data)}</>
  return (
    <>
      {title && <Heading>{title}</Heading>}
      {of.error ? <Failure error={of.error} retry={of.reload} /> : <Loading />}
    </>
  )
}

const TONES: Record<string, string> = {
  done: 'good',
  delivered: 'good',
  applied: 'good',
  changed: 'good',
  planned: 'wait',
  refused: 'bad',
  passed: 'good',
  on: 'good',
  active: 'good',
  accepted: 'good',
  trusted: 'good',
  disputed: 'wait',
  stale: 'wait',
  unproven: 'wait',
  pending: 'wait',
  queued: 'wait',
  running: 'wait',
  downloading: 'wait',
  importing: 'wait',
  failed: 'bad',
  rejected: 'bad',
  suspended: 'bad',
  revoked: 'bad',
  cancelled: 'bad',
  discarded: 'bad',
  held: 'bad',
}

/** @param tone overrides the default tone of the status */
export function Status({ code, tone = TONES[code] }: { code: string; tone?: string }) {
  return <span class={`status ${tone ?? ''}`}>{termText('status', code)}</span>
}

/** Progress from 0 to 100. */
export function Progress({ percent, label }: { percent: number; label: string }) {
  return (
    <div class="progress">
      <progress max={100} value={percent} aria-label={label} />
      <span class="number">{count(Math.round(percent))} %</span>
    </div>
  )
}

interface FactsProps {
  rows: [label: string, value: ComponentChildren][]
  /** omits entries without a value */
  brief?: boolean
}

export function Facts({ rows, brief = false }: FactsProps) {
  const has = (value: ComponentChildren) => value !== null && value !== undefined && value !== ''
  return (
    <dl class="facts">
      {rows
        .filter(([, value]) => !brief || has(value))
        .map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{has(value) ? value : '–'}</dd>
          </div>
        ))}
    </dl>
  )
}
