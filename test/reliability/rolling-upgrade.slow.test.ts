// A rolling upgrade from the previous release, in short: no request fails and nothing is lost while both versions use one schema.
import { expect, test } from 'vitest'
import { hasPreviousRelease, PREVIOUS_RELEASE } from '../../reliability/previous-release.ts'
import { brokenUnderLoad } from '../../reliability/report.ts'
import { rollingUpgradeRun } from '../../reliability/rolling-upgrade.ts'

const there = hasPreviousRelease()

test.skipIf(!there)(
  `from ${PREVIOUS_RELEASE}${there ? '' : ' (skipped: the git history does not hold it)'}`,
  async () => {
    expect(brokenUnderLoad(await rollingUpgradeRun({ seconds: 3 }))).toEqual([])
  },
  600_000,
)
