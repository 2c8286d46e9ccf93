// Condition and grade labels of prices: their values, common spellings, and their order in responses.

/** The named conditions, best first, with the spellings that price files use for them (compared after `fold`). */
const CONDITIONS: readonly { label: string; spellings: readonly string[] }[] = [
  { label: 'Near Mint', spellings: ['nm', 'nm/m', 'mint', 'mt', 'near mint or better', 'nearmint'] },
  { label: 'Lightly Played', spellings: ['lp', 'sp', 'light played', 'slightly played', 'good (lightly played)', 'excellent', 'ex'] },
  { label: 'Moderately Played', spellings: ['mp', 'moderate played', 'good', 'gd', 'played', 'pl'] },
  { label: 'Heavily Played', spellings: ['hp', 'heavy played', 'poor', 'po', 'damaged', 'dmg'] },
  { label: 'Ungraded', spellings: ['raw', 'loose'] },
]

/** Grading companies in their order in responses; others follow alphabetically. */
const GRADERS = ['PSA', 'CGC', 'BGS', 'SGC'] as const

export interface Label {
  /** canonical text, such as `Near Mint` or `PSA 10` */
  label: string
  group: 'ungraded' | 'graded'
  /** grading company in capitals, null for a condition */
  grader: string | null
  /** 1..10 in steps of a half, null for a condition */
  grade: number | null
}

const bySpelling = new Map<string, string>()
for (const { label, spellings } of CONDITIONS) {
  for (const spelling of [label, ...spellings]) bySpelling.set(fold(spelling), label)
}

// Words that companies print next to a grade. Any other word means something else than the plain grade (`BGS 10 Black
// Label`, `PSA 9 OC`, `CGC Pristine 10`), whose price must never count as the price of the grade.
const GRADE_WORDS = ['gem', 'mt', 'mint', 'nm', 'near', 'ex', 'exc', 'excellent', 'vg', 'very', 'good', 'fair', 'poor', 'pr']

const GRADER = /^[a-z]{2,5}/
const GRADE = /^(?:10(?:[.,]0)?|[1-9](?:[.,][05])?)$/

/** Words in the place of a grading company that are not one: a grade without a company is not a label. */
const NO_GRADERS = new Set([...GRADE_WORDS, 'grade', 'raw', 'loose', 'lp', 'mp', 'hp', 'dmg', 'light'])
const MAX_LABEL_LENGTH = 40

/** Parsed labels by text: a feed repeats the same few on every row. */
const canonical = new Map<string, Label>()
const MAX_CANONICAL = 1_000

/**
 * Parses a condition or grade as people write it.
 * @returns the canonical label, or null when it is neither a known condition nor a grader with a grade
 */
export function parseLabel(text: string): Label | null {
  const cached = canonical.get(text)
  if (cached) return cached
  const label = readLabel(text)
  if (label && canonical.size < MAX_CANONICAL) canonical.set(label.label, label)
  return label
}

function readLabel(text: string): Label | null {
  if (text.length > MAX_LABEL_LENGTH) return null
  const folded = fold(text)
  const condition = bySpelling.get(folded.replaceAll('-', ' '))
  if (condition) return { label: condition, group: 'ungraded', grader: null, grade: null }
  return readGrade(folded)
}

/** Accepts "PSA 10", "psa10", "PSA 10.0 GEM - MT", "BGS 9,5" and "CGC Gem Mint 10". */
function readGrade(folded: string): Label | null {
  const company = GRADER.exec(folded)?.[0]
  if (company === undefined || NO_GRADERS.has(company)) return null
  const words = folded.slice(company.length).split(/[ -]+/)
  // A separator at the start leaves an empty first word.
  if (words[0] === '') words.shift()
  const [text, ...others] = words.filter((word) => !GRADE_WORDS.includes(word))
  if (text === undefined || others.length > 0 || !GRADE.test(text)) return null
  const grader = company.toUpperCase()
  const grade = Number(text.replace(',', '.'))
  return { label: `${grader} ${grade}`, group: 'graded', grader, grade }
}

/**
 * Sort key of a label: conditions first in their stated order, then grades by company, highest first. Compare keys as strings.
 */
export function labelOrder(label: string): string {
  const condition = CONDITIONS.findIndex((c) => c.label === label)
  if (condition >= 0) return `0${condition}`
  const parsed = parseLabel(label)
  if (!parsed || parsed.grade === null) return `3${label}`
  const place = GRADERS.indexOf(parsed.grader as (typeof GRADERS)[number])
  const company = place >= 0 ? `1${place}` : `2${parsed.grader}`
  return `${company} ${String(100 - parsed.grade * 10).padStart(3, '0')}`
}

function fold(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replace(/[\s_]+/g, ' ')
}
