// Search for Ctrl-K in the console: records by name, or by id.
import type { SearchRecords } from '#ui/palette.tsx'
import { RECORD_PAGES } from './sources.ts'

/** Maximum results of each kind, so that no kind crowds out the others. */
const MAX_RESULTS_PER_KIND = 4

export const searchRecords: SearchRecords = async (text, signal) => {
  const id = /^#?(\d{1,15})$/.exec(text)?.[1]
  const found = await Promise.all(
    Object.values(RECORD_PAGES).map(async ({ source, href, kind }) => {
      const [named, searched] = await Promise.all([id === undefined ? null : source.find(Number(id)), source.search(text, signal).catch(() => [])])
      const options = named ? [named, ...searched.filter((option) => option.id !== named.id)] : searched
      return options.slice(0, MAX_RESULTS_PER_KIND).map((option) => ({
        href: `${href}/${option.id}`,
        text: option.text,
        kind: kind(),
        detail: [option.detail, `#${option.id}`].filter(Boolean).join(' · '),
      }))
    }),
  )
  return found.flat()
}
