// Health: what the command `doctor` finds, seen from the node that answers, with what to do about it.
import { Heading } from '#ui/heading.tsx'
import { Await, Status } from '#ui/states.tsx'
import { Table } from '#ui/table.tsx'
import { marketCodeValues as MARKETS } from '../api-types.ts'
import { useData } from '../api.ts'
import { t, term } from '../words.ts'

const AGAIN_MS = 60_000

export function HealthPage() {
  const health = useData('/health', { again: () => AGAIN_MS })
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
                { head: t('name'), short: true, cell: ({ check }) => nameOf(check) },
                { head: t('state'), cell: (finding) => <Status code={finding.ok ? 'passed' : 'failed'} /> },
                { head: t('finding'), cell: ({ found }) => <span lang="en">{found}</span> },
                { head: t('whatToDo'), cell: ({ advice }) => advice && <span lang="en">{advice}</span> },
              ]}
            />
          </>
        )}
      </Await>
    </>
  )
}

function nameOf(check: string): string {
  return (MARKETS as readonly string[]).includes(check) ? term('market', check) : term('check', check)
}
