// The list of notifications in console and desk.
import type { ComponentChildren } from 'preact'
import { FINDINGS_IN_TURKISH } from '../src/health/findings-turkish.ts'
import { type FindingRule, textsOf } from '../src/health/findings.ts'
import type { Params } from '../src/core/problems.ts'
import { TURKISH } from '../src/core/problem-texts/turkish.ts'
import { marks } from './bell.tsx'
import { useWrite } from './data.ts'
import { Refusal } from './states.tsx'
import { List } from './table.tsx'
import { ago, locale, t, termText } from './words.ts'

interface Told {
  kind: string
  params: object
  found: string
  advice?: string | null | undefined
}

export interface ShownNotification extends Told {
  id: number
  subject: string
  node: string | null
  severity: string
  state: string
  read: boolean
  since: string
}

/** Finding and remedy in the reader's language; the service's English text if the rule is unknown here. */
export function findingTexts({ kind, params, found, advice }: Told): { found: string; advice?: string | undefined } {
  const isTranslated = locale.value === 'tr' && Object.hasOwn(FINDINGS_IN_TURKISH, kind)
  return isTranslated ? textsOf(FINDINGS_IN_TURKISH[kind as FindingRule], params as Params, TURKISH) : { found, advice: advice ?? undefined }
}

interface NotificationListProps {
  path: string
  /** name of what a notification is about, with a link to its page */
  about: (notification: ShownNotification) => ComponentChildren
}

export function NotificationList({ path, about }: NotificationListProps) {
  const { busy, error, write } = useWrite()
  const mark = async (ids?: number[]) => {
    if (await write('POST', `${path}/read`, ids ? { ids } : {})) marks.value += 1
  }
  return (
    <>
      <p>
        <button type="button" disabled={busy} onClick={() => void mark()}>
          {t('markAllRead')}
        </button>
      </p>
      <Refusal error={error} />
      <List<ShownNotification>
        path={path}
        caption={t('notifications')}
        empty={t('noNotifications')}
        version={marks.value}
        filters={[{ name: 'state', label: t('state'), options: ['open', 'resolved'].map((value) => ({ value, text: termText('status', value) })) }]}
        rowKey={({ id }) => id}
        columns={[
          { head: t('severity'), short: true, cell: (row) => <Severity of={row} /> },
          { head: t('about'), cell: about },
          { head: t('finding'), cell: (row) => <Finding of={row} /> },
          { head: t('since'), short: true, cell: ({ since }) => ago(since) },
          {
            head: t('markRead'),
            cell: ({ id, read, found }) =>
              !read && (
                <button type="button" class="plain" disabled={busy} aria-label={`${t('markRead')}: ${found}`} onClick={() => void mark([id])}>
                  {t('markRead')}
                </button>
              ),
          },
        ]}
      />
    </>
  )
}

const TONES: Record<string, string> = { critical: 'bad', warning: 'wait', info: '' }

function Severity({ of: { severity, state } }: { of: ShownNotification }) {
  if (state === 'resolved') return <span class="status good">{termText('status', 'resolved')}</span>
  return <span class={`status ${TONES[severity] ?? ''}`}>{termText('severity', severity)}</span>
}

function Finding({ of }: { of: ShownNotification }) {
  const { found, advice } = findingTexts(of)
  return (
    <>
      {of.read ? found : <strong>{found}</strong>}
      {of.state === 'open' && advice && <p class="quiet">{advice}</p>}
    </>
  )
}
