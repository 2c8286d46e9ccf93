// One collection: what it is worth, and tabs with its records and quick entry, its gain, what is for trade, its completion, and how it is shared.
import type { ComponentType } from 'preact'
import { useRoute } from 'preact-iso'
import { useAddressQuery } from '#ui/address.ts'
import { Tabs } from '#ui/frame.tsx'
import { Heading } from '#ui/heading.tsx'
import { Failure } from '#ui/states.tsx'
import { mayWrite, useData } from '../api.ts'
import { CollectionCompletion } from '../collection/completion.tsx'
import { ForTrade } from '../collection/for-trade.tsx'
import { CollectionGain } from '../collection/gain.tsx'
import { QuickEntry } from '../collection/quick-entry.tsx'
import { recordsVersion } from '../collection/record-changes.ts'
import { Records } from '../collection/records.tsx'
import { CollectionSharing } from '../collection/sharing.tsx'
import { WorthTiles } from '../collection/worth.tsx'
import { t, type PlainWord } from '../words.ts'

interface View {
  /** value of `view` in the address */
  name: string
  word: PlainWord
  content: ComponentType<{ collectionId: number }>
}

/** The tabs; the first one is shown by default. */
const VIEWS: readonly View[] = [
  { name: 'records', word: 'records', content: RecordsView },
  { name: 'worth', word: 'gain', content: CollectionGain },
  { name: 'completion', word: 'completion', content: CollectionCompletion },
  { name: 'for-trade', word: 'forTrade', content: ForTrade },
  { name: 'sharing', word: 'sharing', content: CollectionSharing },
]

export function CollectionPage() {
  const { params, path } = useRoute()
  const id = Number(params.id)
  const requested = useAddressQuery().values.view
  const collection = useData(`/plus/collections/${id}`, { query: { with_value: 1 }, version: recordsVersion.value })
  const shown = VIEWS.find(({ name }) => name === requested) ?? VIEWS[0]!
  const { content: Content } = shown
  return (
    <>
      <p class="trail">
        <a href="/desk/collections">{t('collections')}</a>
      </p>
      <Heading>{collection.data?.name ?? t('collection')}</Heading>
      {collection.error ? (
        <Failure error={collection.error} retry={collection.reload} />
      ) : (
        <>
          <WorthTiles of={collection.data} />
          <Tabs
            tabs={VIEWS.map(({ name, word }) => ({
              href: name === VIEWS[0]!.name ? path : `${path}?view=${name}`,
              text: t(word),
              current: name === shown.name,
            }))}
          />
          <Content key={id} collectionId={id} />
        </>
      )}
    </>
  )
}

function RecordsView({ collectionId }: { collectionId: number }) {
  return (
    <>
      {mayWrite() && <QuickEntry collectionId={collectionId} />}
      <Records collectionId={collectionId} />
    </>
  )
}
