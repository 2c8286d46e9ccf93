// The card list with PriceCharting's ungraded and PSA 10 prices.
import { expect, it } from 'vitest'
import { gradedGuide } from '#prices/sources/graded-guide.ts'
import { itReads, readShort } from './reading.ts'
import { reason } from '#core/problems.ts'

const PRICES = {
  ungraded: '$389.54',
  grade7: '-',
  grade8: '$320.00',
  grade9: '$450.00',
  grade95: '$495.00',
  grade10: '$1,049.00',
}

function line(more: Record<string, unknown>): string {
  const row = {
    set_code: 't1',
    card_link: 'https://cards.example/tcgplayer/t1-173',
    market: 373.68,
    graded_prices: PRICES,
    commit_date: '2025-02-08T07:57:15-05:00',
    ...more,
  }
  return `${JSON.stringify(row)}\n`
}

it('reads ungraded and PSA 10, and no grade without a grader', async () => {
  expect(await readShort(gradedGuide, line({}))).toEqual([
    '1 pokemontcg:t1-173 Near Mint source_a 389.54 2025-02-08T12:57:15.000Z',
    '1 pokemontcg:t1-173 PSA 10 source_a 1049.00 2025-02-08T12:57:15.000Z',
  ])
})

it('reads "-", "N/A" and a row without graded prices as no price', async () => {
  const none = { ungraded: '-', grade10: 'N/A' }
  expect(await readShort(gradedGuide, line({ graded_prices: none }) + line({ graded_prices: undefined }))).toEqual(['1 none', '2 none'])
})

it.each(['t1tg', 't1gg', 't1sv'])('treats the gallery subset %s as the set', async (set) => {
  const [first] = await readShort(gradedGuide, line({ card_link: `https://cards.example/${set}-GG01` }))
  expect(first).toMatch(`1 pokemontcg:${set}-GG01 Near Mint source_a 389.54`)
})

it.each([
  [{ card_link: 'https://cards.example/t15-1' }, 'card_link other_set t15 t1'],
  [{ card_link: undefined }, 'card_link required'],
  [{ card_link: 'https://cards.example/t1' }, 'card_link required'],
])('rejects a price that may belong to another card: %j', async (more, reason) => {
  expect(await readShort(gradedGuide, line(more))).toEqual([`1 reject ${reason}`])
})

it('rejects prices without a date', async () => {
  expect(await readShort(gradedGuide, line({ commit_date: undefined, graded_prices: { grade10: '$5.00' } }))).toEqual(['1 reject lacks price date'])
})

it('rejects other NDJSON, and an empty file', async () => {
  await expect(readShort(gradedGuide, '{"code":"T1","name":"Test"}')).rejects.toMatchObject({
    why: { rule: 'file_format', params: { format: 'graded-guide' } },
  })
  await expect(readShort(gradedGuide, '\n')).rejects.toMatchObject({ why: reason('file_empty') })
})

itReads(gradedGuide, 'prices/pokemon-graded-pricecharting-usd.ndjson.gz', (counts) => {
  expect(counts).toEqual({
    lines: 1_964,
    prices: 950,
    none: 1_379,
    rejects: {
      'card_link other_set': 96,
      'card_link required': 13,
    },
  })
})
