// The condition or grade of a listing by its id.
import { useEffect, useState } from 'preact/hooks'
import { request } from '../api.ts'
import { t } from '../words.ts'

let labels: Promise<Map<number, string>> | null = null

/** Labels by id. They are read once: new grades come with imports, and their id is shown until the page is loaded again. */
function gradeLabels(): Promise<Map<number, string>> {
  labels ??= request('GET', '/groups').then(
    ({ data }) => new Map(data.flatMap((group) => group.types.map(({ id, label }) => [id, label] as const))),
    () => {
      labels = null
      return new Map<number, string>()
    },
  )
  return labels
}

export function Grade({ id }: { id: number | null }) {
  const [known, setKnown] = useState<Map<number, string> | null>(null)
  useEffect(() => {
    let here = true
    void gradeLabels().then((found) => here && setKnown(found))
    return () => {
      here = false
    }
  }, [])
  if (id === null) return <span class="quiet">{t('notStated')}</span>
  return <>{known ? (known.get(id) ?? `#${id}`) : '…'}</>
}
