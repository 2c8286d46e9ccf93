// Dumps of the catalogue: the latest one with its files, progress of the current one, and a button to create one now.
import { useVersion } from '#ui/data.ts'
import { Heading } from '#ui/heading.tsx'
import { Await, Empty, Facts, Progress } from '#ui/states.tsx'
import { Table } from '#ui/table.tsx'
import { announce } from '#ui/toasts.tsx'
import type { Dump, DumpState } from '../api-types.ts'
import { useData, writeNow } from '../api.ts'
import { PermittedButton } from '../ui/permitted-button.tsx'
import { ago, count, moment, t } from '../words.ts'

const SOON_MS = 1_000
const REFRESH_MS = 60_000

export function DumpsPage() {
  const [version, changed] = useVersion()
  const state = useData('/dumps', { again: ({ running }) => (running ? SOON_MS : REFRESH_MS), version })
  const make = async () => {
    if (!(await writeNow('POST', '/dumps'))) return
    announce(t('dumpStarted'))
    changed()
  }
  return (
    <>
      <Heading>{t('dumps')}</Heading>
      <p class="quiet">{t('dumpsText')}</p>
      <Await of={state}>
        {({ running, failure, problem, place, latest }) => (
          <>
            {running ? (
              <Running of={running} />
            ) : (
              <p>
                <PermittedButton need="catalogue" class="main" onClick={() => void make()}>
                  {t('makeDump')}
                </PermittedButton>
              </p>
            )}
            {problem !== null && <Trouble title={t('dumpStoreProblem')} text={problem} />}
            {failure !== null && failure !== problem && <Trouble title={t('dumpFailed')} text={failure} />}
            {latest ? <Newest of={latest} place={place} /> : problem === null && <Empty>{t('noDumps')}</Empty>}
          </>
        )}
      </Await>
    </>
  )
}

/** Tables differ in size: while one is written, the number of rows is more informative. */
function Running({ of: { tables, of, rows, started_at: since } }: { of: NonNullable<DumpState['running']> }) {
  return (
    <section aria-label={t('dumpRunning')}>
      <Progress percent={of === 0 ? 0 : (100 * tables) / of} label={t('dumpRunning')} />
      <p class="quiet">{t('dumpProgress', { tables: count(tables), of: count(of), rows: count(rows), ago: ago(since) })}</p>
    </section>
  )
}

/** An error, in the words of the store or the database. */
function Trouble({ title, text }: { title: string; text: string }) {
  return (
    <div class="refusal" role="alert">
      <p>
        <strong>{title}</strong> <span lang="en">{text}</span>
      </p>
    </div>
  )
}

function Newest({ of: { as_of: at, files }, place }: { of: Dump; place: string }) {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  return (
    <section aria-labelledby="newest">
      <h2 id="newest">{t('newestDump')}</h2>
      <Facts
        rows={[
          [t('dumpAsOf'), moment(at)],
          [t('size'), kilobytes(bytes)],
          [t('dumpPlace'), place],
        ]}
      />
      <Table
        caption={t('dumpFiles')}
        rows={files}
        rowKey={({ name }) => name}
        columns={[
          { head: t('fileName'), cell: ({ name }) => <span class="file">{name}</span> },
          { head: t('rows'), number: true, cell: ({ rows }) => count(rows) },
          { head: t('size'), number: true, cell: (file) => kilobytes(file.bytes) },
        ]}
      />
    </section>
  )
}

function kilobytes(bytes: number): string {
  return `${count(Math.ceil(bytes / 1024))} KB`
}
