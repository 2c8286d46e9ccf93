// Kills under write load, a full disk and a backup, in short: nothing that was acknowledged is lost.
import { expect, test } from 'vitest'
import { backupRun } from '../../reliability/backup.ts'
import { canMount, diskFullRun } from '../../reliability/disk-full.ts'
import { killRun } from '../../reliability/kill.ts'
import { broken } from '../../reliability/report.ts'

test('kill -9 of the process, of its database and of both', async () => {
  expect(broken(await killRun({ kills: 3, lifeMs: 500 }))).toEqual([])
}, 60_000)

test('a backup that is taken while everything is written is whole elsewhere', async () => {
  expect(broken(await backupRun({ seconds: 1 }))).toEqual([])
}, 60_000)

test.skipIf(!canMount())('an import that fills the disk (skipped where no disk may be mounted)', async () => {
  expect(broken(await diskFullRun({ items: 25_000, megabytes: 100 }))).toEqual([])
}, 120_000)
