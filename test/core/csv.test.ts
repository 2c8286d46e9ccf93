// CSV cells come back unchanged, and no column of a spreadsheet in any locale begins with a formula.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { csvLine, unescapeCell } from '#core/files/csv.ts'
import { csvRows } from '#core/files/feed.ts'
import { runs } from '../support/runs.ts'

async function* bytesOf(text: string): AsyncIterable<Uint8Array> {
  yield Buffer.from(text)
}

async function read(text: string): Promise<string[]> {
  const cells: string[] = []
  for await (const lines of csvRows({ bytes: bytesOf(text), fileName: null }, [])) {
    for (const line of lines) if ('value' in line) cells.push(...Object.values(line.value))
  }
  return cells
}

/** What each locale shows: where `;` or a tab separates, a quote inside a field is a plain character. */
const columnsIn = (line: string) => line.split(/[;\t\r\n]/).map((cell) => cell.replace(/^[" ]*/, ''))
const isFormula = (cell: string) => /^[=+\-@＋－＝＠]/.test(cell)

const nasty = fc.string({ unit: fc.constantFrom(...'=+-@＝\'"; \t,\r\nxç1'), maxLength: 12 })

test('written cells are read unchanged, and none begins a formula for any separator', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(nasty, { minLength: 2, maxLength: 4 }), async (cells) => {
      const line = csvLine(cells)
      expect(columnsIn(line).filter(isFormula)).toEqual([])
      const header = csvLine(cells.map((_, i) => `column${i}`))
      expect((await read(header + line)).map(unescapeCell)).toEqual(cells)
    }),
    { numRuns: runs(3_000) },
  )
})

test.each([
  ['=1+1', "'=1+1"],
  ['x;=1+1;y', `"x;'=1+1;y"`],
  ['x\t@SUM(A1)', `"x\t'@SUM(A1)"`],
  ['x;"=1+1";y', `"x;'""=1+1"";y"`],
  ['line\n- item', `"line\n'- item"`],
  ["x;'=1", `"x;''=1"`],
  ['A+B; C-D', '"A+B; C-D"'],
  ['2-in-1', '2-in-1'],
] as const)('%j', (text, written) => {
  expect(csvLine([text])).toBe(`${written}\n`)
  expect(unescapeCell(written.startsWith('"') ? written.slice(1, -1).replaceAll('""', '"') : written)).toBe(text)
})

test('numbers stay numbers', () => {
  expect(csvLine([-12.5, 0, 1e3, null])).toBe('-12.5,0,1000,\n')
})
