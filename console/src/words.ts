// The console's texts, in addition to the shared ones.
import { type SharedKey, withWords } from '#ui/words.ts'
import { en } from './words/en.ts'
import { tr } from './words/tr.ts'

export * from '#ui/words.ts'
export type WordKey = keyof typeof en | SharedKey
export const t = withWords({ en, tr })
