// A link with the name of a record, for rows that have only its id.
import { useNameOf } from '#ui/picker.tsx'
import { RECORD_PAGES } from './sources.ts'

interface NamedProps {
  of: keyof typeof RECORD_PAGES
  id: number
  /** tab of the account page that the link opens */
  view?: string
}

export function RecordLink({ of, id, view }: NamedProps) {
  const { source, href } = RECORD_PAGES[of]
  const name = useNameOf(source, String(id))
  return (
    <a class="record" title={name ?? undefined} href={`${href}/${id}${view ? `?view=${view}` : ''}`}>
      {name ?? `#${id}`}
    </a>
  )
}
