// Texts of items as numbers of words, compared with plain texts under random changes and after writing and reading.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type ItemTexts, TextArena } from '#catalogue/index/text-arena.ts'
import { partsOf, readParts } from '#index/stored.ts'
import { utf8 } from '#index/utf8.ts'

const WORDS = [
  'pikachu-',
  '25/102',
  '[{"url": ',
  '"https://a.example/',
  'Çelik ',
  'リザードン',
  '',
  '-',
  '//',
  ' ',
  'x'.repeat(41),
  'y'.repeat(70_000),
]
const text = fc.oneof(
  fc.array(fc.constantFrom(...WORDS), { maxLength: 6 }).map((words) => words.join('')),
  fc.string({ unit: 'grapheme' }).map((some) => some.toWellFormed()),
)
const texts = fc.record({ slug: text, images: text, attributes: text, details: text })

function stored({ slug, images, attributes, details }: ItemTexts) {
  return { slug: utf8(slug), images: utf8(images), attributes: utf8(attributes), details: utf8(details) }
}

function expectTexts(arena: TextArena, plain: ReadonlyMap<number, ItemTexts>): void {
  for (const [row, expected] of plain) {
    expect(arena.get(row)).toEqual(expected)
    expect(arena.slug(row)).toBe(expected.slug)
  }
}

test('the texts of each row are returned unchanged', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(10), texts), { maxLength: 40 }), (steps) => {
      const arena = new TextArena()
      const plain = new Map<number, ItemTexts>()
      for (const [row, next] of steps) {
        arena.set(row, stored(next))
        plain.set(row, next)
      }
      expectTexts(arena, plain)
      const parts = partsOf((columns) => arena.store(columns)).map(({ type, lengths, pieces }) => ({
        type,
        lengths,
        bytes: Uint8Array.from(Buffer.concat([...pieces()])),
      }))
      const { columns, end } = readParts(parts)
      const read = new TextArena()
      read.store(columns)
      end()
      expectTexts(read, plain)
      read.set(0, stored({ slug: 'pikachu-1', images: '[]', attributes: '[]', details: '{}' }))
      expect(read.get(0).slug).toBe('pikachu-1')
    }),
  )
})

test('records larger than a buffer are stored, and replaced records take no memory', () => {
  const arena = new TextArena()
  const plain = new Map<number, ItemTexts>()
  for (let i = 0; i < 200; i += 1) {
    const large = String.fromCodePoint(0x4e00 + i).repeat(i % 7 === 0 ? 700_000 : 20_000)
    const next = { slug: `item-${i}`, images: '[]', attributes: large, details: '{"rarity": "Common"}' }
    arena.set(i % 10, stored(next))
    plain.set(i % 10, next)
  }
  expectTexts(arena, plain)
  expect(arena.bytes).toBeLessThan(20 * 2 ** 20)
})

test('words that many rows share take two bytes at most', () => {
  const arena = new TextArena()
  const rows = 100_000
  for (let row = 0; row < rows; row += 1) {
    arena.set(row, stored({ slug: `item-${row}`, images: '[]', attributes: '[{"name": "Rarity", "value": "Common"}]', details: '{"hp": 70}' }))
  }
  expect(arena.bytes / rows).toBeLessThan(40)
  expect(arena.get(99_999)).toEqual({
    slug: 'item-99999',
    images: '[]',
    attributes: '[{"name": "Rarity", "value": "Common"}]',
    details: '{"hp": 70}',
  })
})
