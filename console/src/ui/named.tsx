// A link with the name of a record, for rows that have only its id.
import { useNameOf } from '#ui/picker.tsx'
import { PLACES } from './sources.ts'

interface NamedProps {
  of: keyof typeof PLACES
  id: number
  /** tab of the account page that the link opens */
  view?: string
}

export function Named({ of, id, view }: NamedProps) {
  const { source, href } = PLACES[of]
  const name = useNameOf(source, String(id))
  return <a href={`${href}/${id}${view ? `?view=${view}` : ''}`}>{name ?? `#${id}`}</a>
}
