// The desk's texts, in addition to the shared ones.
import { withWords } from '#ui/words.ts'
import { en } from './words/en.ts'
import { tr } from './words/tr.ts'

export * from '#ui/words.ts'
export const t = withWords({ en, tr })
