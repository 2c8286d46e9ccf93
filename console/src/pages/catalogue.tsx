// The catalogue: search as you type, the category tree, and the items of a category.
import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso'
import { useAddressQuery } from '#ui/address.ts'
import { useVersion } from '#ui/data.ts'
import { Heading } from '#ui/heading.tsx'
import { Id } from '#ui/id.tsx'
import { Failure, Loading } from '#ui/states.tsx'
import { List, useData } from '../api.ts'
import type { ListedItem, StoredCategory, StoredItem } from '../api-types.ts'
import { marketOptions } from '../ui/market-options.ts'
import { QueryInput } from '../ui/query-input.tsx'
import { PermittedButton } from '../ui/permitted-button.tsx'
import { Picture } from '../ui/picture.tsx'
import { moment, t, termText } from '../words.ts'
import { CategoryForm } from './category-form.tsx'
import { ItemForm } from './item-form.tsx'
import { priceText } from './prices.ts'
import { CatalogueTabs } from './synonyms.tsx'

type Task = { kind: 'item' } | { kind: 'category'; category: StoredCategory | null } | null

export function CataloguePage() {
  const [task, setTask] = useState<Task>(null)
  const [version, changed] = useVersion()
  const { route } = useLocation()
  const address = useAddressQuery()
  const categoryId = Number(address.values.category_id) || null
  return (
    <>
      <Heading>{t('catalogue')}</Heading>
      <CatalogueTabs current="catalogue" />
      <div class="split">
        <aside aria-label={t('categories')}>
          <div class="head">
            <h2>{t('categories')}</h2>
            <PermittedButton need="catalogue" onClick={() => setTask({ kind: 'category', category: null })}>
              {t('newCategory')}
            </PermittedButton>
          </div>
          <ul class="tree">
            <li>
              <span class="node">
                <a href={address.link({ category_id: '' })} aria-current={categoryId === null ? 'true' : undefined}>
                  {t('allItems')}
                </a>
              </span>
            </li>
            <Branch parentId={0} selected={categoryId} version={version} onEdit={(category) => setTask({ kind: 'category', category })} />
          </ul>
        </aside>
        <div>
          <List
            path="/items"
            caption={t('items')}
            empty={t('noItems')}
            version={version}
            fixed={{ category_id: categoryId ?? undefined }}
            filters={[
              { name: 'query', label: t('search'), control: QueryInput },
              { name: 'market', label: t('source'), options: marketOptions() },
              { name: 'game', label: t('game') },
              { name: 'ref', label: t('ref') },
            ]}
            actions={
              <PermittedButton need="catalogue" class="main" onClick={() => setTask({ kind: 'item' })}>
                {t('newItem')}
              </PermittedButton>
            }
            rowKey={(item) => item.id}
            columns={[
              {
                head: t('name'),
                sort: 'name',
                cell: (item) => (
                  <a class="with-picture" href={`/console/catalogue/items/${item.id}`}>
                    <Picture item={item} small /> {item.name}
                  </a>
                ),
              },
              { head: t('code'), sort: 'code', cell: (item) => item.code ?? '–' },
              { head: t('finish'), cell: (item) => finishOf(item) ?? '–' },
              { head: t('category'), cell: (item) => item.category.name },
              { head: t('source'), short: true, wide: true, cell: (item) => termText('market', item.market) },
              { head: t('price'), number: true, sort: 'price', cell: (item) => <ItemPrice of={item} /> },
              { head: t('id'), number: true, wide: true, sort: 'id', cell: (item) => <Id value={item.id} /> },
            ]}
          />
        </div>
      </div>
      {task?.kind === 'item' && (
        <ItemForm
          item={null}
          categoryId={categoryId}
          onClose={() => setTask(null)}
          onSaved={(item) => route(`/console/catalogue/items/${item.id}`)}
        />
      )}
      {task?.kind === 'category' && (
        <CategoryForm
          category={task.category}
          onClose={() => setTask(null)}
          onSaved={() => {
            setTask(null)
            changed()
          }}
        />
      )}
    </>
  )
}

/** The finish of a card, such as `Holo`; sealed products have none. */
function finishOf({ attributes }: StoredItem): string | undefined {
  return attributes.find(({ name }) => name === 'Finish')?.value
}

function ItemPrice({ of: { price } }: { of: ListedItem }) {
  if (!price) return '–'
  return (
    <span title={`${termText('market', price.market)}, ${price.label}, ${moment(price.updated_at)}`}>{priceText(price.price, price.market)}</span>
  )
}

interface BranchProps {
  /** 0 for the root categories */
  parentId: number
  page?: number
  selected: number | null
  version: number
  onEdit: (category: StoredCategory) => void
}

const CATEGORIES_PER_PAGE = 100

/** The children of a category, loaded when it is opened, with further pages on demand. */
function Branch({ parentId, page = 1, ...shared }: BranchProps) {
  const below = useData('/categories', { query: { parent_id: parentId, page, per_page: CATEGORIES_PER_PAGE }, version: shared.version })
  const [further, setFurther] = useState(false)
  if (below.error) {
    return (
      <li>
        <Failure error={below.error} retry={below.reload} />
      </li>
    )
  }
  if (!below.data) {
    return (
      <li>
        <Loading />
      </li>
    )
  }
  const rest = (below.pagination?.total ?? 0) - (page - 1) * CATEGORIES_PER_PAGE - below.data.length
  return (
    <>
      {below.data.map((category) => (
        <Node key={category.id} category={category} {...shared} />
      ))}
      {below.data.length === 0 && <li class="quiet">{t('noCategories')}</li>}
      {rest > 0 && further && <Branch parentId={parentId} page={page + 1} {...shared} />}
      {rest > 0 && !further && (
        <li>
          <button type="button" class="plain" onClick={() => setFurther(true)}>
            {t('andMore', { count: rest })}
          </button>
        </li>
      )}
    </>
  )
}

function Node({ category, ...shared }: { category: StoredCategory } & Omit<BranchProps, 'parentId' | 'page'>) {
  const [open, setOpen] = useState(false)
  const address = useAddressQuery()
  return (
    <li>
      <span class="node">
        <button
          type="button"
          class="plain twist"
          aria-expanded={open}
          aria-label={t('below', { name: category.name })}
          onClick={() => setOpen(!open)}
        >
          {open ? '▾' : '▸'}
        </button>
        <a href={address.link({ category_id: category.id })} aria-current={shared.selected === category.id ? 'true' : undefined}>
          {category.name} {category.parent_id === null && <span class="quiet">{termText('market', category.market)}</span>}
        </a>
        <PermittedButton need="catalogue" class="plain edit" aria-label={`${t('edit')}: ${category.name}`} onClick={() => shared.onEdit(category)}>
          ✎
        </PermittedButton>
      </span>
      {open && (
        <ul>
          <Branch parentId={category.id} {...shared} />
        </ul>
      )}
    </li>
  )
}
