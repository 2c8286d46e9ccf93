// The title and end of an own listing where a row has only its id: taken from the table, otherwise requested once.
import { useEffect, useState } from 'preact/hooks'
import { request } from './api.ts'
import { moment } from './words.ts'

interface Known {
  title: string
  /** end of its period; absent if only the title is known */
  end?: string | null
}

const known = new Map<number, Promise<Known | null>>()

export function cacheTitle(id: number, title: string): void {
  if (!known.has(id)) known.set(id, Promise.resolve({ title }))
}

/** Drops changed listings, so that they are requested again. */
export function dropCachedListings(ids: Iterable<number>): void {
  for (const id of ids) known.delete(id)
}

async function knownOf(id: number, needs: keyof Known): Promise<Known | null> {
  const before = known.get(id)
  if (before) {
    const found = await before
    if (found === null || found[needs] !== undefined) return found
  }
  const asked = request('GET', `/plus/listings/${id}`, { query: { with_details: 1 } }).then(
    ({ data }) => ({ title: data.title, end: data.expires_at ?? null }),
    () => null,
  )
  known.set(id, asked)
  return asked
}

function useKnown(id: number, needs: keyof Known): Known | null {
  const [found, setFound] = useState<{ id: number; known: Known | null } | null>(null)
  useEffect(() => {
    let here = true
    void knownOf(id, needs).then((one) => here && setFound({ id, known: one }))
    return () => {
      here = false
    }
  }, [id, needs])
  return found?.id === id ? found.known : null
}

export function ListingTitle({ id }: { id: number }) {
  return <>{useKnown(id, 'title')?.title ?? `#${id}`}</>
}

/** End of the publication period. */
export function ListingEnd({ id }: { id: number }) {
  const end = useKnown(id, 'end')?.end
  return <>{end ? moment(end) : '–'}</>
}
