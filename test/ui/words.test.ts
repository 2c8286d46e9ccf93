// The dictionaries of the pages have the same keys in every language, and each key is in only one of them.
import { expect, test } from 'vitest'
import { en as consoleEn } from '../../console/src/words/en.ts'
import { tr as consoleTr } from '../../console/src/words/tr.ts'
import { en as deskEn } from '../../desk/src/words/en.ts'
import { tr as deskTr } from '../../desk/src/words/tr.ts'
import { en } from '../../ui/words/en.ts'
import { tr } from '../../ui/words/tr.ts'

const DICTIONARIES: [Record<string, string>, Record<string, string>][] = [
  [en, tr],
  [consoleEn, consoleTr],
  [deskEn, deskTr],
]
const WORDS = DICTIONARIES.flatMap(([english, turkish]) => Object.keys(english).map((key) => [key, english[key]!, turkish[key]!] as const))

test('every text has the same placeholders in every language and is not empty', () => {
  const gaps = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort().join()
  const wrong = WORDS.filter(([, english, turkish]) => gaps(turkish) !== gaps(english) || turkish.trim() === '')
  expect(wrong.map(([key]) => key)).toEqual([])
})

test('shared texts are not repeated by a page', () => {
  const own = [...Object.keys(consoleEn), ...Object.keys(deskEn)]
  expect(own.filter((key) => key in en)).toEqual([])
})
