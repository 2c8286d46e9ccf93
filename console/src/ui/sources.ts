// Sources of the console's pickers, based on searches of the operator API, and addresses of the records.
import type { Option, Source } from '#ui/picker.tsx'
import { request } from '../api.ts'
import type { ListedItem, StoredItem, StoredListing } from '../api-types.ts'
import { date, lira, moment, t, termText } from '../words.ts'

const MAX_OPTIONS = 8
const CACHED_MS = 60_000

/** The same source with lookups by id cached for a minute, so that table rows share them. */
function cached(source: Source): Source {
  const entries = new Map<number, { option: Promise<Option | null>; readAt: number }>()
  return {
    search: source.search,
    find: (id) => {
      const entry = entries.get(id)
      if (entry && Date.now() - entry.readAt < CACHED_MS) return entry.option
      const option = source.find(id).catch(() => null)
      entries.set(id, { option, readAt: Date.now() })
      return option
    },
  }
}

export const accounts = cached({
  search: async (text, signal) => (await request('GET', '/accounts', { query: { search: text, per_page: MAX_OPTIONS }, signal })).data.map(ofAccount),
  find: async (id) => ofAccount((await request('GET', `/accounts/${id}`)).data),
})

function ofAccount({ id, name, plan }: { id: number; name: string; plan: string }): Option {
  return { id, text: name, detail: termText('plan', plan) }
}

export const items = cached({
  search: async (text, signal) => {
    const ask = (query: { query?: string; search?: string }) => request('GET', '/items', { query: { ...query, per_page: MAX_OPTIONS }, signal })
    // Words are searched as in the catalogue; text that is not a valid query is searched as part of a name, code or ref.
    const { data } = await ask({ query: text }).catch(() => ask({ search: text }))
    return data.map(ofItem)
  },
  find: async (id) => ofItem((await request('GET', `/items/${id}`)).data),
})

function ofItem({ id, name, code, category, attributes, market }: StoredItem | ListedItem): Option {
  const finish = attributes.find((attribute) => attribute.name === 'Finish')?.value
  return { id, text: [name, code].filter(Boolean).join(' '), detail: [finish, category.name, termText('market', market)].filter(Boolean).join(' · ') }
}

export const listings = cached({
  search: async (text, signal) => (await request('GET', '/listings', { query: { search: text, per_page: MAX_OPTIONS }, signal })).data.map(ofListing),
  find: async (id) => ofListing((await request('GET', `/listings/${id}`)).data),
})

function ofListing({ id, title, price, status }: StoredListing): Option {
  return { id, text: title, detail: `${lira(price)} · ${termText('status', status)}` }
}

export const categories = cached({
  search: async (text, signal) =>
    (await request('GET', '/categories', { query: { search: text, per_page: MAX_OPTIONS }, signal })).data.map(ofCategory),
  find: async (id) => {
    const { data } = await request('GET', '/categories', { query: { id } })
    return data[0] ? ofCategory(data[0]) : null
  },
})

function ofCategory({ id, name, game, market }: { id: number; name: string; game: string; market: string }): Option {
  return { id, text: name, detail: `${game} · ${termText('market', market)}` }
}

export const imports = cached({
  search: async (text, signal) => (await request('GET', '/imports', { query: { search: text, per_page: MAX_OPTIONS }, signal })).data.map(ofImport),
  find: async (id) => ofImport((await request('GET', `/imports/${id}`)).data),
})

function ofImport({
  id,
  format,
  file_name: name,
  started_at: at,
}: {
  id: number
  format: string
  file_name: string | null
  started_at: string
}): Option {
  return { id, text: name ?? format, detail: [name === null ? null : format, date(at)].filter(Boolean).join(' · ') }
}

/** Orders have no name, so they are found by id. */
export const orders = cached({
  search: () => Promise.resolve([]),
  find: async (id) => {
    const { data } = await request('GET', `/orders/${id}`)
    return { id, text: `${t('order')} ${id}`, detail: moment(data.sold_at) }
  },
})

/** Conditions and grades; loaded once, because only imports add new ones. */
let labels: Promise<Option[]> | null = null

function allGrades(): Promise<Option[]> {
  labels ??= request('GET', '/groups').then(
    ({ data }) => data.flatMap((group) => group.types.map(({ id, label }) => ({ id, text: label, detail: group.name }))),
    () => {
      labels = null
      return []
    },
  )
  return labels
}

export const grades: Source = {
  search: async (text) => {
    const typed = text.toLocaleLowerCase()
    return (await allGrades()).filter((grade) => grade.text.toLocaleLowerCase().includes(typed)).slice(0, 20)
  },
  find: async (id) => (await allGrades()).find((grade) => grade.id === id) ?? null,
}

/** Records with a page of their own, by the prefix of its address. */
export const RECORD_PAGES = {
  accounts: { source: accounts, href: '/console/accounts', kind: () => t('account') },
  listings: { source: listings, href: '/console/listings', kind: () => t('listing') },
  items: { source: items, href: '/console/catalogue/items', kind: () => t('item') },
  orders: { source: orders, href: '/console/orders', kind: () => t('order') },
  imports: { source: imports, href: '/console/imports', kind: () => t('import') },
} as const
