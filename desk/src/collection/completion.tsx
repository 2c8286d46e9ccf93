// The tab "Completion": all sets of the collection with their percent, or one goal, chosen by set, field query, rule and language.
import { useAddressQuery } from '#ui/address.ts'
import type { Filter } from '#ui/list-parts.ts'
import type { Source } from '#ui/picker.tsx'
import { Await, Empty } from '#ui/states.tsx'
import { Pages, Table, useFilters } from '#ui/table.tsx'
import type { SetCompletion } from '../../../client/src/api.ts'
import { request, useData } from '../api.ts'
import { language, percentage, t, termText } from '../words.ts'
import { GoalView } from './goal.tsx'
import { recordsVersion } from './record-changes.ts'

/** The first one is the default of the service. */
const GOALS = ['complete', 'base', 'official', 'master'] as const
/** Languages of printed cards; a set in another one can be chosen by its name. */
const LANGUAGES = ['en', 'ja', 'de', 'fr', 'it', 'es', 'pt', 'ko', 'zh', 'th', 'id', 'nl', 'pl', 'ru'] as const
const SETS_PER_PAGE = 50
const MAX_SUGGESTIONS = 10

const sets: Source = {
  search: (text, signal) => categories({ search: text, per_page: MAX_SUGGESTIONS }, signal),
  find: async (id) => (await categories({ id }))[0] ?? null,
}

async function categories(query: { search?: string; id?: number; per_page?: number }, signal?: AbortSignal) {
  const { data } = await request('GET', '/categories', { query, ...(signal && { signal }) })
  return data.map(({ id, name, items_count: items }) => ({ id, text: name, detail: t('itemsCount', { count: items }) }))
}

type FilterName = 'category_id' | 'query' | 'goal' | 'language' | 'cards'

function filters(hasGoal: boolean): Filter<FilterName>[] {
  return [
    { name: 'category_id', label: t('set'), picker: sets },
    { name: 'query', label: t('orQuery'), type: 'search' },
    { name: 'goal', label: t('goal'), always: true, options: GOALS.map((code) => ({ value: code, text: termText('goal', code) })) },
    { name: 'language', label: t('spoken'), options: LANGUAGES.map((code) => ({ value: code, text: language(code) })) },
    ...(hasGoal
      ? [
          {
            name: 'cards' as const,
            label: t('shownCards'),
            always: true,
            options: ['all', 'missing'].map((code) => ({ value: code, text: termText('cards', code) })),
          },
        ]
      : []),
  ]
}

export function CollectionCompletion({ collectionId }: { collectionId: number }) {
  const { category_id: set, query } = useAddressQuery().values
  const hasGoal = Boolean(set || query)
  const { values, page, bar, link } = useFilters(filters(hasGoal))
  const { cards = '', ...chosen } = values
  return (
    <section>
      <h2>{t('completion')}</h2>
      <p class="quiet lead">{t(`goalText.${GOALS.find((code) => code === values.goal) ?? GOALS[0]}`)}</p>
      <div class="toolbar">{bar}</div>
      {hasGoal ? (
        <GoalView collectionId={collectionId} chosen={chosen} withOwned={cards !== 'missing'} page={page} link={link} />
      ) : (
        <Sets collectionId={collectionId} chosen={{ goal: values.goal ?? '', language: values.language ?? '' }} page={page} link={link} />
      )}
    </section>
  )
}

interface SetsProps {
  collectionId: number
  chosen: { goal: string; language: string }
  page: number
  /** address of a page of the list */
  link: (page: number) => string
}

/** Every set of which the collection has a card, the fullest first. */
function Sets({ collectionId, chosen, page, link }: SetsProps) {
  const address = useAddressQuery()
  const found = useData(`/plus/collections/${collectionId}/completion`, {
    query: { ...chosen, page, per_page: SETS_PER_PAGE },
    version: recordsVersion.value,
  })
  return (
    <Await of={found}>
      {(data) => {
        const rows = data as SetCompletion[]
        if (rows.length === 0) return <Empty>{(found.pagination?.total ?? 0) > 0 ? t('noSuchPage') : t('noSets')}</Empty>
        return (
          <>
            <Table
              caption={t('setsOfCollection')}
              rows={rows}
              rowKey={({ category_id: id }) => id}
              busy={found.loading}
              columns={[
                {
                  head: t('set'),
                  cell: ({ category_id: id, name, game }) => (
                    <>
                      <a href={address.link({ category_id: id })}>{name}</a> <small class="quiet">{termText('game', game)}</small>
                    </>
                  ),
                },
                { head: t('ownedCards'), number: true, cell: ({ owned, of }) => t('ownedOf', { owned, of }) },
                { head: t('completion'), cell: (row) => <Share of={row} /> },
              ]}
            />
            {found.pagination && <Pages of={found.pagination} link={link} />}
          </>
        )
      }}
    </Await>
  )
}

function Share({ of: { name, owned, of, percent } }: { of: SetCompletion }) {
  return (
    <span class="owned-share">
      <progress max={Math.max(of, 1)} value={owned} aria-label={name} />
      <span class="number">{percent === null ? '–' : percentage(percent)}</span>
    </span>
  )
}
