// What files state about copies that a record has no field for: lines at the start of its note, which exports read again.

/** Fields of yes/no columns, in the order of their lines. */
export const FLAGS = ['signed', 'altered', 'misprint', 'proof'] as const
export type Flag = (typeof FLAGS)[number]

const LINE_OF: Readonly<Record<Flag, string>> = { signed: 'Signed', altered: 'Altered', misprint: 'Misprint', proof: 'Artist proof' }
const flagOf = new Map(FLAGS.map((flag) => [LINE_OF[flag], flag]))
const LANGUAGE = 'Language: '

export interface NoteParts {
  flags: ReadonlySet<Flag>
  /** code of the language, `de`; '' for English, or if the note does not state it */
  language: string
  /** the note after these lines */
  rest: string
}

/** The note with the lines before it. @param language '' or `en` needs no line */
export function noteWith(flags: readonly Flag[], language: string, note: string): string {
  const languageLine = language === '' || language.toLowerCase() === 'en' ? '' : `${LANGUAGE}${language}`
  return [...flags.map((flag) => LINE_OF[flag]), languageLine, note].filter(Boolean).join('\n')
}

/** The note with the lines that columns state; lines that it has already are not repeated, and all of them stay in their order. */
export function noteOfColumns(flags: readonly Flag[], language: string, note: string): string {
  const own = partsOfNote(note)
  const isStated = language !== '' && language.toLowerCase() !== 'en'
  if ((flags.length === 0 && !isStated) || (isStated && own.language !== '' && own.language !== language)) return noteWith(flags, language, note)
  return noteWith(
    FLAGS.filter((flag) => flags.includes(flag) || own.flags.has(flag)),
    isStated ? language : own.language,
    own.rest,
  )
}

export function partsOfNote(note: string | null): NoteParts {
  const lines = (note ?? '').split('\n')
  const flags = new Set<Flag>()
  let language = ''
  for (;;) {
    const flag = flagOf.get(lines[0] ?? '')
    const isLanguage = language === '' && lines[0]?.startsWith(LANGUAGE) === true
    if (flag && !flags.has(flag)) flags.add(flag)
    else if (isLanguage) language = lines[0]!.slice(LANGUAGE.length)
    else break
    lines.shift()
  }
  return { flags, language, rest: lines.join('\n') }
}
