// Proves that the console's dictionaries say the same.
import { expect, test } from 'vitest'
import { en } from '../../console/src/words/en.ts'
import { tr } from '../../console/src/words/tr.ts'

test.each(Object.keys(en) as (keyof typeof en)[])('%s has the same gaps in every language and says something', (key) => {
  const gaps = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort()
  expect(gaps(tr[key])).toEqual(gaps(en[key]))
  expect(tr[key].trim()).not.toBe('')
})
