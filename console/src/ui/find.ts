// Search for Ctrl-K in the console: records by name, or by id.
import type { Find } from '#ui/palette.tsx'
import { PLACES } from './sources.ts'

/** Maximum results of each kind, so that no kind crowds out the others. */
const MOST = 4

export const find: Find = async (text, signal) => {
  const id = /^#?(\d{1,15})$/.exec(text)?.[1]
  const found = await Promise.all(
    Object.values(PLACES).map(async ({ source, href, kind }) => {
      const [named, searched] = await Promise.all([id === undefined ? null : source.find(Number(id)), source.search(text, signal).catch(() => [])])
      const options = named ? [named, ...searched.filter((option) => option.id !== named.id)] : searched
      return options.slice(0, MOST).map((option) => ({
        href: `${href}/${option.id}`,
        text: option.text,
        kind: kind(),
        detail: [option.detail, `#${option.id}`].filter(Boolean).join(' · '),
      }))
    }),
  )
  return found.flat()
}
