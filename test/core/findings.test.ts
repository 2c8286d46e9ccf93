// Every health finding has its texts in English and in Turkish with the same parameters, and without gaps if some are missing.
import { expect, test } from 'vitest'
import { FINDINGS_IN_TURKISH } from '#health/findings-turkish.ts'
import { finding, type FindingRule, FINDINGS, type FindingTexts, textsOf } from '#health/findings.ts'

const namesIn = (text = '') => [...new Set([...text.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!))].sort()
const alwaysIn = (text = '') => namesIn(text.replace(/\[[^\]]*\]/g, ''))

test.each(Object.keys(FINDINGS) as FindingRule[])('%s has English and Turkish texts with the same parameters', (rule) => {
  const english: FindingTexts = FINDINGS[rule]
  const turkish = FINDINGS_IN_TURKISH[rule]
  for (const part of ['found', 'advice'] as const) {
    expect(namesIn(turkish[part])).toEqual(namesIn(english[part]))
    expect(alwaysIn(turkish[part])).toEqual(alwaysIn(english[part]))
    const always = alwaysIn(english.found).concat(alwaysIn(english.advice))
    const all = namesIn(english.found).concat(namesIn(english.advice))
    for (const names of [always, all])
      for (const texts of [english, turkish])
        expect(textsOf(texts, Object.fromEntries(names.map((name) => [name, name])))[part]).not.toMatch(/[{}[\]|]|undefined| {2}/)
  }
})

test('a source reports its state, and asks for a decision only if prices are held', () => {
  expect(finding('source_c', true, 'source', { held: 0 })).toEqual({
    check: 'source_c',
    ok: true,
    rule: 'source',
    params: { held: 0 },
    found: 'no feed imported yet; 0 held',
  })
  const params = { held: 2, held_market: 'source_c', age_days: 1, interval_days: 7, covered: ['Raw 5 (10 %)', 'Graded 1 (2 %)'] }
  expect(finding('source_c', true, 'source_late', params)).toMatchObject({
    found: 'late; days since the latest feed: 1, usually 7 between feeds; 2 held; prices (coverage): Raw 5 (10 %), Graded 1 (2 %)',
    advice: 'review them: mintmark held list --market source_c',
  })
})
