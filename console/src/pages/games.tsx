// Games: what is loaded of each, and of one game its prices, sources, last imports and what awaits a match.
import { useRoute } from 'preact-iso'
import { Heading } from '#ui/heading.tsx'
import { Await, Empty, Facts } from '#ui/states.tsx'
import { Table } from '#ui/table.tsx'
import type { GameDetail } from '../api-types.ts'
import { useData } from '../api.ts'
import { ImportState } from '../ui/import-state.tsx'
import { PublicSources } from '../ui/public-sources.tsx'
import { ago, count, moment, t, termText } from '../words.ts'
import { CatalogueTabs } from './synonyms.tsx'

export function GamesPage() {
  const games = useData('/games')
  return (
    <>
      <Heading>{t('games')}</Heading>
      <CatalogueTabs current="games" />
      <Await of={games}>
        {(found) =>
          found.length === 0 ? (
            <Empty>{t('noGames')}</Empty>
          ) : (
            <Table
              caption={t('games')}
              rows={found}
              rowKey={({ game }) => game}
              columns={[
                { head: t('game'), cell: ({ game, name }) => <a href={`/console/games/${encodeURIComponent(game)}`}>{name}</a> },
                { head: t('items'), number: true, cell: ({ items }) => count(items) },
                { head: t('categories'), number: true, cell: ({ categories }) => count(categories) },
                { head: t('cardsToMatch'), number: true, cell: ({ waiting }) => count(waiting) },
                { head: t('setsToMatch'), number: true, cell: ({ waiting_sets: sets }) => count(sets) },
                { head: t('lastChanged'), cell: ({ updated_at: at }) => at && <Age of={at} /> },
              ]}
            />
          )
        }
      </Await>
    </>
  )
}

export function GamePage() {
  const game = useRoute().params.game ?? ''
  const found = useData(`/games/${game}`)
  return (
    <>
      <p class="trail">
        <a href="/console/games">{t('games')}</a>
      </p>
      <Await of={found} title={game}>
        {(detail) => <Loaded of={detail} />}
      </Await>
    </>
  )
}

function Loaded({ of }: { of: GameDetail }) {
  const { game, name, items, categories, waiting, postponed, waiting_sets: sets, updated_at: at, prices, sources, imports } = of
  const query = `game=${encodeURIComponent(game)}`
  return (
    <>
      <Heading>{name}</Heading>
      <Facts
        rows={[
          [
            t('items'),
            <a key="items" href={`/console/catalogue?${query}`}>
              {count(items)}
            </a>,
          ],
          [t('categories'), count(categories)],
          [
            t('cardsToMatch'),
            <a key="cards" href={`/console/matches?${query}`}>
              {count(waiting)}
            </a>,
          ],
          [
            t('matchState.postponed'),
            <a key="postponed" href={`/console/matches?state=postponed&${query}`}>
              {count(postponed)}
            </a>,
          ],
          [
            t('setsToMatch'),
            <a key="sets" href={`/console/set-matches?${query}`}>
              {count(sets)}
            </a>,
          ],
          [t('lastChanged'), at && <Age of={at} />],
        ]}
      />
      <section aria-labelledby="game-prices">
        <h2 id="game-prices">{t('gamePrices')}</h2>
        {prices.length === 0 ? (
          <Empty>{t('noGamePrices')}</Empty>
        ) : (
          <Table
            caption={t('gamePrices')}
            rows={prices}
            rowKey={({ market }) => market}
            columns={[
              { head: t('market'), cell: ({ market }) => termText('market', market) },
              { head: t('gamePrices'), number: true, cell: (row) => count(row.prices) },
              { head: t('pricedItems'), number: true, cell: (row) => count(row.items) },
              { head: t('newestPrice'), cell: (row) => <Age of={row.newest_at} /> },
            ]}
          />
        )}
      </section>
      <section aria-labelledby="game-sources">
        <h2 id="game-sources">{t('gameSources')}</h2>
        <Table
          caption={t('gameSources')}
          rows={sources}
          rowKey={({ source }) => source}
          columns={[
            { head: t('source'), cell: ({ source }) => source },
            { head: t('sourceRecords'), number: true, cell: (row) => count(row.records) },
            { head: t('format'), cell: ({ format }) => format ?? '–' },
            { head: t('import'), cell: ({ import_id: id }) => (id === null ? '–' : <a href={`/console/imports/${id}`}>#{id}</a>) },
            { head: t('when'), cell: ({ imported_at: when }) => (when === null ? '–' : <Age of={when} />) },
          ]}
        />
      </section>
      <section aria-labelledby="game-imports">
        <h2 id="game-imports">{t('lastImports')}</h2>
        <Table
          caption={t('lastImports')}
          rows={imports}
          rowKey={({ id }) => id}
          columns={[
            {
              head: t('import'),
              cell: (row) => (
                <a href={`/console/imports/${row.id}`}>
                  #{row.id} {row.file_name ?? row.format}
                </a>
              ),
            },
            { head: t('state'), cell: (row) => <ImportState of={row} /> },
            { head: t('count.created'), number: true, cell: (row) => count(row.created) },
            { head: t('count.updated'), number: true, cell: (row) => count(row.updated) },
            { head: t('rejected'), number: true, cell: (row) => count(row.rejected) },
            { head: t('when'), cell: (row) => <Age of={row.started_at} /> },
          ]}
        />
      </section>
      <PublicSources game={game} />
    </>
  )
}

function Age({ of: at }: { of: string }) {
  return <span title={moment(at)}>{ago(at)}</span>
}
