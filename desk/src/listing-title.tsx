// The title and end of an own listing where a row has only its id: taken from the table, otherwise requested once.
import { useEffect, useState } from 'preact/hooks'
import { request } from './api.ts'
import { moment } from './words.ts'

interface CachedTitle {
  title: string
  /** end of its period; absent if only the title is known */
  end?: string | null
}

const cachedTitles = new Map<number, Promise<CachedTitle | null>>()

export function cacheTitle(id: number, title: string): void {
  if (!cachedTitles.has(id)) cachedTitles.set(id, Promise.resolve({ title }))
}

/** Drops changed listings, so that they are requested again. */
export function dropCachedListings(ids: Iterable<number>): void {
  for (const id of ids) cachedTitles.delete(id)
}

async function cachedTitleOf(id: number, needs: keyof CachedTitle): Promise<CachedTitle | null> {
  const before = cachedTitles.get(id)
  if (before) {
    const found = await before
    if (found === null || found[needs] !== undefined) return found
  }
  const loading = request('GET', `/plus/listings/${id}`, { query: { with_details: 1 } }).then(
    ({ data }) => ({ title: data.title, end: data.expires_at ?? null }),
    () => null,
  )
  cachedTitles.set(id, loading)
  return loading
}

function useCachedTitle(id: number, needs: keyof CachedTitle): CachedTitle | null {
  const [found, setFound] = useState<{ id: number; title: CachedTitle | null } | null>(null)
  useEffect(() => {
    let here = true
    void cachedTitleOf(id, needs).then((one) => here && setFound({ id, title: one }))
    return () => {
      here = false
    }
  }, [id, needs])
  return found?.id === id ? found.title : null
}

export function ListingTitle({ id }: { id: number }) {
  return <>{useCachedTitle(id, 'title')?.title ?? `#${id}`}</>
}

/** End of the publication period. */
export function ListingEnd({ id }: { id: number }) {
  const end = useCachedTitle(id, 'end')?.end
  return <>{end ? moment(end) : '–'}</>
}
