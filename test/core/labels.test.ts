// Condition and grade labels: accepted spellings, texts that are not labels, and the sort order.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { labelOrder, parseLabel } from '#core/labels.ts'

describe('parseLabel', () => {
  it.each([
    ['Near Mint', 'Near Mint'],
    [' near  mint ', 'Near Mint'],
    ['NM', 'Near Mint'],
    ['Excellent', 'Lightly Played'],
    ['mp', 'Moderately Played'],
    ['Poor', 'Heavily Played'],
    ['Raw', 'Ungraded'],
  ])('reads the condition "%s"', (text, label) => {
    expect(parseLabel(text)).toEqual({ label, group: 'ungraded', grader: null, grade: null })
  })

  it.each([
    ['PSA 10', 'PSA', 10],
    ['psa10', 'PSA', 10],
    ['PSA-9', 'PSA', 9],
    ['PSA 10.0 GEM - MT', 'PSA', 10],
    ['PSA NM-MT 8', 'PSA', 8],
    ['BGS 9,5', 'BGS', 9.5],
    ['CGC Gem Mint 10', 'CGC', 10],
    ['SGC 9', 'SGC', 9],
    ['ACE 1.5', 'ACE', 1.5],
  ])('reads the grade "%s"', (text, grader, grade) => {
    expect(parseLabel(text)).toEqual({ label: `${grader} ${grade}`, group: 'graded', grader, grade })
  })

  it.each(['10', '9.5', 'Grade 9', 'Gem Mint 10', 'Mint 9', 'near mint 8', 'LP 5'])(
    'does not read "%s" as a label, because the grader is unknown',
    (text) => {
      expect(parseLabel(text)).toBeNull()
    },
  )

  it.each(['BGS 10 Black Label', 'BGS Black Label 10', 'CGC Pristine 10', 'PSA 9 OC', 'PSA Authentic'])(
    'does not read "%s" as the plain grade, which has a different price',
    (text) => expect(parseLabel(text)).toBeNull(),
  )

  it.each(['', 'PSA', 'PSA 0', 'PSA 10.5', 'PSA 11', 'PSA 9.3', 'PSA 100', 'constructor', 'A'.repeat(5_000_000)])(
    'rejects what is neither condition nor grade (%#)',
    (text) => expect(parseLabel(text)).toBeNull(),
  )

  it('reads back the labels it formats', () => {
    const graders = fc.stringMatching(/^[A-Z]{2,5}$/)
    fc.assert(
      fc.property(graders, fc.integer({ min: 2, max: 20 }), (grader, halves) => {
        const label = parseLabel(`${grader} ${halves / 2}`)
        fc.pre(label !== null)
        expect(parseLabel(label.label)).toEqual(label)
        expect(label).toMatchObject({ grader, grade: halves / 2 })
      }),
    )
  })
})

describe('labelOrder', () => {
  it('lists conditions from best to worst, then companies, each from the highest grade', () => {
    const ordered = [
      'Near Mint',
      'Lightly Played',
      'Moderately Played',
      'Heavily Played',
      'Ungraded',
      'PSA 10',
      'PSA 9.5',
      'PSA 9',
      'PSA 1',
      'CGC 10',
      'BGS 10',
      'BGS 9.5',
      'SGC 10',
      'ACE 10',
      'ACE 9',
      'TAG 10',
      'Something else',
    ]
    const keyed = ordered.toReversed().map((label) => ({ label, key: labelOrder(label) }))
    keyed.sort((a, b) => (a.key < b.key ? -1 : 1))
    expect(keyed.map(({ label }) => label)).toEqual(ordered)
  })
})
