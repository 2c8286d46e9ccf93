// Keeps filters and page numbers in the address bar, so that lists can be bookmarked and shared, and Back works.
import { useLocation } from 'preact-iso'

export interface AddressQuery {
  values: Record<string, string>
  /** sets values; empty ones are removed from the address, and changed filters return to the first page */
  set: (changes: Record<string, string | number>) => void
  /** the address with these changes, for links */
  link: (changes: Record<string, string | number>) => string
}

export function useAddressQuery(): AddressQuery {
  const { path, query, route } = useLocation()
  const link = (changes: Record<string, string | number>) => {
    const next = new URLSearchParams(query)
    if (!('page' in changes)) next.delete('page')
    for (const [name, value] of Object.entries(changes)) {
      if (value === '' || (name === 'page' && value === 1)) next.delete(name)
      else next.set(name, String(value))
    }
    const text = next.toString()
    return text ? `${path}?${text}` : path
  }
  return { values: query, set: (changes) => route(link(changes), true), link }
}
