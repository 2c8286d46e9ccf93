// The sentence of an explanation in English and Turkish: the same parameters in both, and no gaps.
import { expect, test } from 'vitest'
import { SUMMARIES_IN_TURKISH } from '../../console/src/words/summaries-tr.ts'
import { SUMMARIES_IN_ENGLISH, summaryText } from '#prices/reviews/summary.ts'

const namesIn = (text: string) => [...new Set([...text.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!))].sort()

test.each(Object.keys(SUMMARIES_IN_ENGLISH.summaries) as (keyof typeof SUMMARIES_IN_ENGLISH.summaries)[])('%s has the same parameters', (rule) => {
  expect(namesIn(SUMMARIES_IN_TURKISH.summaries[rule])).toEqual(namesIn(SUMMARIES_IN_ENGLISH.summaries[rule]))
})

type Explained = Parameters<typeof summaryText>[0]
type Input = Explained['inputs'][number]

const other = (converted: number, rest: Partial<Input> = {}): Input => ({
  kind: 'market',
  market: 'source_c',
  amount: converted,
  currency: 'USD',
  at: '2026-11-20T00:00:00Z',
  import_id: 1,
  line: null,
  used: true,
  condition_known: true,
  state: 'trusted',
  flags: [],
  reason: 'compared',
  comparison: { converted, usual_ratio: 1, usual_spread: 1, cards: 0, learned_ratio: null, expected: converted, times_off: 1, level: 'agree' },
  ...rest,
})

const finding = (rule: 'other_markets' | 'condition_unknown', counts = false): Explained['findings'][number] => ({
  rule,
  version: 1,
  market: 'source_c',
  compared: 1,
  times_off: 1,
  counts,
})

const explained = (rest: Partial<Explained> = {}): Explained => ({
  market: 'source_b',
  label: 'Near Mint',
  price: 10,
  confirmed_at: '2026-11-20T00:00:00Z',
  state: 'trusted',
  flags: [],
  samples: null,
  condition_known: true,
  confirmed_by_person_at: null,
  findings: [],
  inputs: [],
  ...rest,
})

const style = { market: (code: string) => code.toUpperCase(), day: (iso: string) => iso.slice(0, 10) }

test.each<[Partial<Explained>, string, string]>([
  [
    { inputs: [other(25)], findings: [finding('other_markets')] },
    'Two markets differ 2.5-fold (SOURCE_B and SOURCE_C); nothing else contradicts the price of SOURCE_B, so it is used.',
    'SOURCE_B ve SOURCE_C fiyatları arasında 2,5 kat fark var; SOURCE_B fiyatına karşı başka bir bulgu olmadığından kullanılır.',
  ],
  [
    { inputs: [other(123, { condition_known: false })], condition_known: false, findings: [finding('condition_unknown')] },
    'Two markets differ 12-fold (SOURCE_B and SOURCE_C); both prices are used, because neither states a condition and the difference may be one of condition.',
    'SOURCE_B ve SOURCE_C fiyatları arasında 12 kat fark var; ikisi de kondisyon belirtmediğinden fark kondisyondan kaynaklanabilir ve iki fiyat da kullanılır.',
  ],
  [
    { inputs: [other(90, { state: 'disputed', flags: ['jump', 'other_markets'] })], findings: [finding('other_markets')] },
    'Two markets differ 9-fold (SOURCE_B and SOURCE_C); ours follows SOURCE_B, because the price of SOURCE_C jumped from the previous price and nothing has confirmed it yet.',
    'SOURCE_B ve SOURCE_C fiyatları arasında 9 kat fark var; SOURCE_B fiyatı esas alınıyor, çünkü SOURCE_C fiyatı önceki fiyattan çok uzak ve henüz doğrulanmadı.',
  ],
  [
    { inputs: [other(11, { used: false, reason: 'no_rate', comparison: null })] },
    'The price of SOURCE_B is used, but could not be compared with other markets, because there is no exchange rate.',
    'SOURCE_B fiyatı kullanılıyor, ancak diğer kaynaklarla karşılaştırılamadı: döviz kuru yok.',
  ],
  [
    { state: 'disputed', flags: ['identical_figures'], held: [1, 2] },
    'The price of SOURCE_B is shown but not used for other figures, because it has the same figures as another item; prices held for review: 2.',
    'SOURCE_B fiyatı başka bir ürünün değerleriyle aynı, bu nedenle gösterilir, ancak başka hesaplarda kullanılmaz; bekletilen fiyat: 2.',
  ],
])('%o', (rest, english, turkish) => {
  expect(summaryText(explained(rest), SUMMARIES_IN_ENGLISH, style)).toBe(english)
  const words = { rules: {} as never, decimal: ',' }
  expect(summaryText(explained(rest), SUMMARIES_IN_TURKISH, { ...style, words })).toBe(turkish)
})
