// Reads across the database and the archive see a state between two moves of months, however many months move meanwhile.
import { expect, test } from 'vitest'
import { readWithArchive } from '#files/archive-reads.ts'

const MONTHS = 30

test('a read is repeated until no month has moved during it', async () => {
  let moved = 0
  const read = async (files: number) => {
    if (moved < MONTHS) moved += 1
    return files
  }
  expect(await readWithArchive(async () => moved, read)).toBe(MONTHS)
})

test('an error during a move is not the result, one without a move is', async () => {
  let moved = 0
  const failWhile = (moving: boolean) => async (files: number) => {
    if (moving && moved === 1) return files
    if (moving) moved += 1
    throw new Error('The file is gone')
  }
  expect(await readWithArchive(async () => moved, failWhile(true))).toBe(1)
  await expect(readWithArchive(async () => moved, failWhile(false))).rejects.toThrow('The file is gone')
})
