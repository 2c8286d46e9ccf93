// Ready bytes within their budget: what is there is what was put last, also when memory is used again.
import { expect, test } from 'vitest'
import { ReadyBytes } from '#catalogue/snapshot/ready-bytes.ts'

const MB = 1024 * 1024
const ROWS = 5_000

const textOf = (row: number, round: number) => `{"row":${row},"round":${round},"name":"${'ğ'.repeat((row * 7 + round) % 900)}"}`

function bytesOf(ready: ReadyBytes, row: number): string {
  const target = Buffer.alloc(ready.length(row))
  expect(ready.copy(row, target, 0)).toBe(target.length)
  return target.toString()
}

test('entries are whole or gone, the newest are there, and memory stays within the budget', () => {
  const ready = new ReadyBytes(3 * MB)
  for (const round of [1, 2, 3]) {
    for (let row = 0; row < ROWS; row += 1) ready.put(row, textOf(row, round))
    expect(ready.has(ROWS - 1)).toBe(true)
    for (let row = 0; row < ROWS; row += 1) if (ready.has(row)) expect(bytesOf(ready, row)).toBe(textOf(row, round))
    expect(ready.bytes).toBe(3 * MB)
  }
})

test('an entry larger than a chunk is kept', () => {
  const ready = new ReadyBytes(2 * MB)
  for (let row = 0; row < 5; row += 1) ready.put(row, `${row}`.repeat(MB + row))
  expect(bytesOf(ready, 4)).toBe('4'.repeat(MB + 4))
})

test('hashes depend on the text alone', () => {
  const [one, other] = [new ReadyBytes(2 * MB), new ReadyBytes(2 * MB)]
  const hashes = (ready: ReadyBytes, row: number) => [ready.hashHigh(row), ready.hashLow(row)]
  other.put(0, 'something before it')
  for (let row = 1; row < 200; row += 1) {
    one.put(row, textOf(row, 1))
    other.put(row, textOf(row, 1))
    expect(hashes(one, row)).toEqual(hashes(other, row))
  }
  expect(new Set(Array.from({ length: 199 }, (_, i) => hashes(one, i + 1).join())).size).toBe(199)
})
