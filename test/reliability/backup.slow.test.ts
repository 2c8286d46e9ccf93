// A backup during writes, and a full disk, in short: acknowledged writes are kept.
import { expect, test } from 'vitest'
import { backupRun } from '../../reliability/backup.ts'
import { canMount, diskFullRun } from '../../reliability/disk-full.ts'
import { brokenUnderLoad } from '../../reliability/report.ts'

test('a backup taken during writes is complete when restored', async () => {
  expect(brokenUnderLoad(await backupRun({ seconds: 1 }))).toEqual([])
})

test.skipIf(!canMount())(
  'an import that fills the disk (skipped if no disk can be mounted)',
  async () => {
    expect(brokenUnderLoad(await diskFullRun({ items: 25_000, megabytes: 100 }))).toEqual([])
  },
  600_000,
)
