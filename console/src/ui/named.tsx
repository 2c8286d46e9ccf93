// A link that calls an account or a listing by its name, where a row has only the id.
import { useEffect, useState } from 'preact/hooks'
import { request } from '../api.ts'

const KEPT_MS = 60_000
const names = new Map<string, { name: Promise<string | null>; askedAt: number }>()

/** The name at an address of the operator API, null when it cannot be had; asked for once a minute, however many rows want it. */
function nameAt(path: NamedPath): Promise<string | null> {
  const known = names.get(path)
  if (known && Date.now() - known.askedAt < KEPT_MS) return known.name
  const name = request('GET', path).then(
    ({ data }) => ('title' in data ? data.title : data.name),
    () => null,
  )
  names.set(path, { name, askedAt: Date.now() })
  return name
}

type Kind = 'accounts' | 'listings'
type NamedPath = `/${Kind}/${number}`

interface NamedProps {
  of: Kind
  id: number
  /** the part of the account's page that the link opens */
  view?: string
}

export function Named({ of, id, view }: NamedProps) {
  const path: NamedPath = `/${of}/${id}`
  const [found, setFound] = useState<{ path: string; name: string | null } | null>(null)
  useEffect(() => {
    let here = true
    void nameAt(path).then((name) => here && setFound({ path, name }))
    return () => {
      here = false
    }
  }, [path])
  return <a href={`/console${path}${view ? `?view=${view}` : ''}`}>{(found?.path === path && found.name) || `#${id}`}</a>
}
