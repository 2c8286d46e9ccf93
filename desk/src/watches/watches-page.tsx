// The account's watches: listed, added by typing a card, changed, and removed with an undo.
import { useRef, useState } from 'preact/hooks'
import { Heading } from '#ui/heading.tsx'
import { Picture } from '#ui/picture.tsx'
import type { ItemWatch, Watch } from '../../../client/src/api.ts'
import { List, mayWrite } from '../api.ts'
import { type Card, printingOf } from '../listing/card.ts'
import { CardSearch } from '../listing/card-search.tsx'
import { t, termText } from '../words.ts'
import { watchedName, watchesVersion } from './watch-changes.ts'
import { watchColumns } from './watch-columns.tsx'
import { ChangeWatchDialog, WATCH_KINDS, WatchForm } from './watch-form.tsx'

export function WatchesPage() {
  const [edited, edit] = useState<ItemWatch | null>(null)
  return (
    <>
      <Heading>{t('watches')}</Heading>
      <p class="quiet lead">
        {t('watchesText')}{' '}
        <a href="/docs/guides/api-guide#watches-and-want-lists-plus" target="_blank" rel="noopener">
          {t('watchesGuide')}
        </a>
      </p>
      {mayWrite() && <AddWatch />}
      <section>
        <h2>{t('yourWatches')}</h2>
        <List
          path="/plus/watches"
          caption={t('yourWatches')}
          empty={t('noWatches')}
          version={watchesVersion.value}
          filters={[{ name: 'kind', label: t('watchFor'), options: WATCH_KINDS.map((code) => ({ value: code, text: termText('watchKind', code) })) }]}
          rowKey={({ id }) => id}
          columns={[{ head: t('card'), name: 'card', cell: (watch) => <a href={addressOf(watch)}>{watchedName(watch)}</a> }, ...watchColumns(edit)]}
        />
      </section>
      {edited && <ChangeWatchDialog key={edited.id} of={edited} onClose={() => edit(null)} />}
    </>
  )
}

function addressOf(watch: Watch): string {
  if (watch.kind !== 'goal_reopened') return `/desk/cards/${watch.item_id}`
  const { collection_id: collection, category_id: set, goal, language } = watch
  const chosen = new URLSearchParams({ view: 'completion', category_id: String(set), goal, ...(language !== 'any' && { language }) })
  return `/desk/collections/${collection}?${chosen}`
}

function AddWatch() {
  const search = useRef<HTMLInputElement>(null)
  const form = useRef<HTMLDivElement>(null)
  const [card, choose] = useState<Card | null>(null)
  const [isMissing, setMissing] = useState(false)
  const [saved, setSaved] = useState(0)
  const setCard = (chosen: Card | null) => {
    choose(chosen)
    setMissing(false)
  }
  return (
    <section class="panel add-watch" aria-labelledby="add-watch">
      <h2 id="add-watch">{t('addWatch')}</h2>
      <CardSearch
        input={search}
        onChoose={(chosen) => {
          setCard(chosen)
          form.current?.querySelector<HTMLElement>('[name=amount]')?.focus()
        }}
      />
      <div ref={form}>
        <WatchForm
          // A saved watch leaves an empty form.
          key={saved}
          card={card}
          onNoCard={() => {
            setMissing(true)
            search.current?.focus()
          }}
          onSaved={() => {
            setCard(null)
            setSaved(saved + 1)
            search.current?.focus()
          }}
        >
          <p class="with-picture entry-card" role={isMissing ? 'alert' : undefined}>
            {card && <Picture key={card.id} item={card} small />}
            <span>
              {card ? <strong>{card.name}</strong> : <span class="quiet">{t('noCardChosen')}</span>}{' '}
              <small class="quiet">{card && printingOf(card)}</small>
            </span>
          </p>
        </WatchForm>
      </div>
    </section>
  )
}
