// Allowed contents of readable text: something visible, and no characters that change its order.
import { expect, test } from 'vitest'
import { CATALOGUE_TEXT, cleanText, isLine, isLines, VISIBLE_LINE } from '#core/text.ts'

const visibleLine = (text: string) => new RegExp(VISIBLE_LINE, 'u').test(text)
const catalogueText = (text: string) => new RegExp(CATALOGUE_TEXT, 'u').test(text)

const INVISIBLE = [
  '\u200b',
  '\u200d',
  '\u00ad',
  '\u3164',
  '\u115f',
  '\u1160',
  '\uffa0',
  '\u2800',
  '\u2060',
  '\ufeff',
  '\ufe0f',
  '\u034f',
  '\u180e',
  '\u{e0041}',
  '\u3000',
  '\u00a0',
  '\u200b \u200d\u3164',
  ' ',
]
const REORDERING = ['\u202a', '\u202b', '\u202c', '\u202d', '\u202e', '\u2066', '\u2067', '\u2068', '\u2069']
const VISIBLE = [
  'a',
  '1',
  'ı',
  '©',
  '👩‍👩‍👧‍👦',
  '🇹🇷',
  'e\u0301',
  'می‌خواهم',
  '\u200fעברית',
  'ポケモン',
  '\u200bNC Empire',
  'a\u00adb',
  '​NC Empire',
  'مرحبا',
]

test.each(INVISIBLE)('%j has no visible character', (text) => {
  expect([visibleLine(text), catalogueText(text), cleanText(text)]).toEqual([false, false, ''])
  expect(isLine(text)).toBe(/^\p{Zs}*$/u.test(text))
})

test.each(REORDERING)('%j changes the text direction', (control) => {
  const text = `Charizard ${control}dsp.exe`
  expect([visibleLine(text), catalogueText(text), isLine(text), isLines(`a\n${text}`)]).toEqual([false, false, false, false])
  expect(cleanText(text)).toBe('Charizard dsp.exe')
})

test.each(VISIBLE)('%j is valid text', (text) => {
  expect([visibleLine(text), catalogueText(text.trim()), isLine(text), isLines(`${text}\n${text}`), cleanText(text)]).toEqual([
    true,
    true,
    true,
    true,
    text,
  ])
})

test.each(['a\nb', 'a\u2028b', 'a\u2029b', 'a\0b', 'a\u001bb', 'a\ud800'])('%j is not a single line of text', (text) => {
  expect([visibleLine(text), isLine(text)]).toEqual([false, false])
})

test('long texts without a visible character are checked in linear time', () => {
  const started = performance.now()
  for (const text of ['\u200b'.repeat(1_000_000), `${'a '.repeat(500_000)}\u202e`, `${'\u200b '.repeat(500_000)}\0`])
    expect(visibleLine(text)).toBe(false)
  expect(performance.now() - started).toBeLessThan(30_000)
})
