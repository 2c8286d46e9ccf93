// The title of an own listing where a row has only its id: remembered from the table, else asked for once.
import { useEffect, useState } from 'preact/hooks'
import { request } from './api.ts'

const titles = new Map<number, Promise<string | null>>()

export function rememberTitle(id: number, title: string): void {
  titles.set(id, Promise.resolve(title))
}

function titleOf(id: number): Promise<string | null> {
  const known = titles.get(id)
  if (known) return known
  const asked = request('GET', `/plus/listings/${id}`).then(
    ({ data }) => data.title,
    () => null,
  )
  titles.set(id, asked)
  return asked
}

export function ListingTitle({ id }: { id: number }) {
  const [found, setFound] = useState<{ id: number; title: string | null } | null>(null)
  useEffect(() => {
    let here = true
    void titleOf(id).then((title) => here && setFound({ id, title }))
    return () => {
      here = false
    }
  }, [id])
  return <>{(found?.id === id && found.title) || `#${id}`}</>
}
