// Health: the findings of the command `doctor` as seen from the responding node, with remedies.
import { Heading } from '#ui/heading.tsx'
import { findingTexts } from '#ui/notifications.tsx'
import { Await, Status } from '#ui/states.tsx'
import { Table } from '#ui/table.tsx'
import type { Finding } from '../api-types.ts'
import { marketCodeValues as MARKETS } from '../api-values.ts'
import { useData } from '../api.ts'
import { t, termText } from '../words.ts'

const REFRESH_MS = 60_000

export function HealthPage() {
  const health = useData('/health', { again: () => REFRESH_MS })
  return (
    <>
      <Heading>{t('health')}</Heading>
      <p class="quiet">{t('healthText')}</p>
      <Await of={health}>
        {({ ok, findings }) => (
          <>
            <p class="lead">
              <span class={`status ${ok ? 'good' : 'bad'}`}>
                {ok ? t('healthGood') : t('healthBad', { count: findings.filter((finding) => !finding.ok).length })}
              </span>
            </p>
            <Table
              caption={t('health')}
              rows={findings}
              rowKey={({ check }) => check}
              columns={[
                { head: t('name'), short: true, cell: ({ check }) => nameOfCheck(check) },
                { head: t('state'), cell: (finding) => <Status code={finding.ok ? 'passed' : 'failed'} /> },
                { head: t('finding'), cell: (finding) => textsOfFinding(finding).found },
                { head: t('whatToDo'), cell: (finding) => textsOfFinding(finding).advice },
              ]}
            />
          </>
        )}
      </Await>
    </>
  )
}

/** Finding and remedy in the reader's language. */
export function textsOfFinding({ rule, ...finding }: Finding): { found: string; advice?: string | undefined } {
  return findingTexts({ kind: rule, ...finding })
}

export function nameOfCheck(check: string): string {
  return (MARKETS as readonly string[]).includes(check) ? termText('market', check) : termText('check', check)
}
