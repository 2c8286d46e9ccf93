// Requests for erasure with what was done, and the response to a breach.
import { useVersion } from '#ui/data.ts'
import { Heading } from '#ui/heading.tsx'
import { List } from '../api.ts'
import { erasureStateValues as STATES } from '../api-values.ts'
import { EndAccess } from '../ui/end-access.tsx'
import { ErasePerson } from '../ui/erase-person.tsx'
import { count, moment, t, termText } from '../words.ts'
import { AccountTabs } from './accounts.tsx'

export function PersonalDataPage() {
  const [version, changed] = useVersion()
  return (
    <>
      <Heading>{t('personalData')}</Heading>
      <AccountTabs current="personal-data" />
      <p class="quiet">{t('personalDataText')}</p>
      <List
        path="/erasures"
        caption={t('erasures')}
        empty={t('noErasures')}
        version={version}
        filters={[{ name: 'state', label: t('state'), options: STATES.map((code) => ({ value: code, text: termText('erasureState', code) })) }]}
        actions={
          <>
            <ErasePerson onDone={changed} />
            <EndAccess />
          </>
        }
        rowKey={(row) => row.id}
        columns={[
          { head: t('pseudonym'), cell: (row) => row.pseudonym },
          { head: t('state'), cell: (row) => termText('erasureState', row.state) },
          { head: t('erasedRows'), number: true, cell: (row) => count(Object.values(row.what).reduce((sum, rows) => sum + rows, 0)) },
          { head: t('when'), short: true, cell: (row) => moment(row.requested_at) },
          { head: t('finished'), short: true, wide: true, cell: (row) => (row.finished_at ? moment(row.finished_at) : '–') },
          { head: t('actor'), wide: true, cell: (row) => row.requested_by },
          { head: t('reason'), wide: true, cell: (row) => row.reason },
        ]}
      />
    </>
  )
}
