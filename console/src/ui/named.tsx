// A link that calls a thing by its name, where a row has only the id.
import { useNameOf } from '#ui/picker.tsx'
import { PLACES } from './sources.ts'

interface NamedProps {
  of: keyof typeof PLACES
  id: number
  /** the part of the account's page that the link opens */
  view?: string
}

export function Named({ of, id, view }: NamedProps) {
  const { source, href } = PLACES[of]
  const name = useNameOf(source, String(id))
  return <a href={`${href}/${id}${view ? `?view=${view}` : ''}`}>{name ?? `#${id}`}</a>
}
