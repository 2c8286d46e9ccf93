// What people searched for in a week: the most searched terms, those that find nothing, and those whose items nobody offers.
import { useState } from 'preact/hooks'
import { Heading } from '#ui/heading.tsx'
import { Await, Empty } from '#ui/states.tsx'
import { Table } from '#ui/table.tsx'
import { useData } from '../api.ts'
import { count, t } from '../words.ts'
import { CatalogueTabs } from './synonyms.tsx'

const KINDS = ['most', 'nothing', 'not_offered'] as const
const TEXTS = { most: 'searchesMost', nothing: 'searchesNothing', not_offered: 'searchesNotOffered' } as const

export function SearchesPage() {
  const [kind, setKind] = useState<(typeof KINDS)[number]>('most')
  const [week, setWeek] = useState('')
  const report = useData('/stats/searches', { query: { kind, limit: 100, ...(week && { week }) } })
  return (
    <>
      <Heading>{t('searches')}</Heading>
      <CatalogueTabs current="searches" />
      <p class="quiet">{t('searchesText')}</p>
      <div class="filters">
        <label>
          {t('searchesShown')}
          <select value={kind} onChange={({ currentTarget }) => setKind(currentTarget.value as typeof kind)}>
            {KINDS.map((one) => (
              <option key={one} value={one}>
                {t(TEXTS[one])}
              </option>
            ))}
          </select>
        </label>
        <label>
          {t('searchesWeek')}
          <input type="date" value={week} onChange={({ currentTarget }) => setWeek(currentTarget.value)} />
        </label>
      </div>
      <Await of={report}>
        {({ terms }) =>
          terms.length === 0 ? (
            <Empty>{t('noSearches')}</Empty>
          ) : (
            <Table
              caption={t('searches')}
              rows={terms}
              rowKey={({ term }) => term}
              columns={[
                { head: t('searchTerm'), cell: ({ term }) => <a href={`/console/catalogue?search=${encodeURIComponent(term)}`}>{term}</a> },
                { head: t('searchCount'), number: true, cell: ({ searches }) => count(searches) },
                { head: t('itemsFound'), number: true, cell: ({ items }) => count(items) },
                { head: t('listingsFound'), number: true, cell: ({ listings }) => count(listings) },
              ]}
            />
          )
        }
      </Await>
    </>
  )
}
