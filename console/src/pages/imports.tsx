// Imports: files dropped here, and the results of all imports and price posts.
import { useVersion } from '#ui/data.ts'
import { Tabs } from '#ui/frame.tsx'
import { Heading } from '#ui/heading.tsx'
import { List, isAllowed, useData } from '../api.ts'
import { importStatusValues as IMPORT_STATUSES } from '../api-values.ts'
import { ImportFiles } from '../ui/import-files.tsx'
import { ImportState, isInProgress } from '../ui/import-state.tsx'
import { PublicSources } from '../ui/public-sources.tsx'
import { count, moment, t, termText } from '../words.ts'

const SOON_MS = 1_000

export function ImportTabs({ current }: { current: 'imports' | 'rates' | 'indices' }) {
  return (
    <Tabs
      tabs={[
        { href: '/console/imports', text: t('imports'), current: current === 'imports' },
        { href: '/console/rates', text: t('rates'), current: current === 'rates' },
        { href: '/console/indices', text: t('indices'), current: current === 'indices' },
      ]}
    />
  )
}

export function ImportsPage() {
  const [version, changed] = useVersion()
  const { data, loading } = useData('/import-formats')
  const formats = data ?? []
  return (
    <>
      <Heading>{t('imports')}</Heading>
      <ImportTabs current="imports" />
      {isAllowed('catalogue') && <ImportFiles formats={loading ? null : formats} onStarted={changed} />}
      <List
        path="/imports"
        caption={t('imports')}
        empty={t('noImports')}
        version={version}
        again={(imports) => (imports.some(isInProgress) ? SOON_MS : null)}
        filters={[
          { name: 'search', label: t('fileName'), type: 'search' },
          { name: 'format', label: t('format'), options: formats.map(({ name }) => ({ value: name, text: name })) },
          { name: 'status', label: t('state'), options: IMPORT_STATUSES.map((code) => ({ value: code, text: termText('status', code) })) },
        ]}
        rowKey={(row) => row.id}
        columns={[
          {
            head: t('import'),
            width: '16%',
            cell: (row) => (
              <a class="file" href={`/console/imports/${row.id}`} title={row.file_name ?? undefined}>
                #{row.id} {row.file_name ?? row.format}
              </a>
            ),
          },
          { head: t('format'), width: '11%', wide: true, cell: (row) => row.format },
          { head: t('state'), width: '12%', cell: (row) => <ImportState of={row} /> },
          { head: t('rows'), width: '8%', number: true, wide: true, cell: (row) => count(row.rows_read) },
          { head: t('count.created'), width: '8%', number: true, wide: true, cell: (row) => count(row.created) },
          { head: t('count.updated'), width: '9.5%', number: true, wide: true, cell: (row) => count(row.updated) },
          { head: t('accepted'), width: '8%', number: true, cell: (row) => count(row.accepted) },
          { head: t('held'), width: '8.5%', number: true, cell: (row) => count(row.held) },
          { head: t('rejected'), width: '9%', number: true, cell: (row) => count(row.rejected) },
          { head: t('when'), width: '10%', wide: true, sort: 'started_at', cell: (row) => moment(row.started_at) },
        ]}
      />
      <PublicSources onStarted={changed} />
    </>
  )
}
