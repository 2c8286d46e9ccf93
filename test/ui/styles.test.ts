// The pages have one type scale and one set of spacings: sizes of text, gaps and corners are variables of ui/styles.css.
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

const SHEETS = ['ui', 'console/src', 'desk/src'].map((folder) => `${folder}/styles.css`)
const SCALED =
  /^(?:font|font-size|padding|margin|gap|row-gap|column-gap|border-radius)(?:-(?:block|inline|top|right|bottom|left)(?:-(?:start|end))?)?$/
/** Allowed without a variable: hairlines, and visually hidden elements. */
const OWN = new Set(['0', '1px', '-1px', '50%'])

describe.each(SHEETS)('%s', (sheet) => {
  test('has no fixed size of its own', () => {
    const css = readFileSync(new URL(`../../${sheet}`, import.meta.url), 'utf8').replace(/\/\*[^*]*\*\//g, '')
    const declarations = [...css.matchAll(/([a-z-]+):\s([^;{}]+);/g)].map(([, name, value]) => ({ name: name!, value: value! }))
    expect(declarations.length).toBeGreaterThan(20)
    const own = declarations
      .filter(({ name }) => SCALED.test(name))
      .flatMap(({ name, value }) => value.split(/[\s(),/]+/).map((size) => ({ name, size })))
      .filter(({ size }) => /\d(?:px|rem|em)$/.test(size) && !OWN.has(size))
    expect(own.map(({ name, size }) => `${name}: ${size}`)).toEqual([])
  })
})
