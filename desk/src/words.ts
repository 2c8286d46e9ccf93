// The desk's texts, in addition to the shared ones.
import { type PlainKey, type WithShared, withWords } from '#ui/words.ts'
import { en } from './words/en.ts'
import { tr } from './words/tr.ts'

export * from '#ui/words.ts'
export type PlainWord = PlainKey<WithShared<typeof en>>
export const t = withWords({ en, tr })
