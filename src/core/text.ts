// How long a text is, as people count: a letter with its marks and an emoji of several code points are one character each.

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** Whether a text has at most so many characters. */
export function fitsCharacters(text: string, most: number): boolean {
  if (text.length <= most) return true
  let count = 0
  for (const _character of segmenter.segment(text)) {
    count += 1
    if (count > most) return false
  }
  return true
}
