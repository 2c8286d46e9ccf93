// The script that takes the screenshots of the documentation: a name that fits no picture is an error, and no picture is left over.
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'

test('a part of a name that fits no picture ends with 1 and names the pages, of which the documentation has all pictures', () => {
  const { status, stderr } = spawnSync(process.execPath, ['console/screenshots.ts', 'no such picture'], { encoding: 'utf8' })
  expect(status).toBe(1)
  const names = /the pages are (.*)/.exec(stderr)![1]!.split(', ')
  const expected = names.flatMap((name) => ['light', 'dark', 'narrow-light', 'narrow-dark'].map((view) => `${name}-${view}.png`))
  expect(
    readdirSync('docs/images')
      .filter((file) => file.endsWith('.png'))
      .sort(),
  ).toEqual(expected.sort())
})
