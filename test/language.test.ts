// Private words that have a standard term: none in code, docs and tests.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = new URL('..', import.meta.url).pathname
const FOLDERS = ['src', 'test', 'ui', 'console', 'desk', 'client/src', 'examples', 'bench', 'reliability', 'sample', 'docs']
const PAGES = ['README.md', 'CONTRIBUTING.md']

/** What is not said, and what is said for it; only patterns that cannot mean anything else. */
const SAID_FOR: readonly [RegExp, string][] = [
  [/\b(every|other|one|each|of a|this) rooms?\b|\broomOf\b|## Rooms\b/, 'module'],
  [/\b(direct|fast|plain) lanes?\b/, 'fast path'],
  [/\bAsker\b|\bwhoever asks\b|\bcallers? who (is|are) known\b/, 'caller, client'],
  [/\bvoiced\b/, 'error mapping'],
  [/\bTogether\b(?=[<(])|committing together|commit-together/, 'group commit'],
  [/\bOccasions?\b/, 'event'],
  [/\b(take|takes|took|taken) back\b|\btook this one back\b/, 'revert'],
  [/\bdearest\b/, 'most expensive'],
  [/\b(rude) clients?\b/, 'misbehaving client'],
  [/\bplain server\b/, 'baseline server'],
  [/\bwhat it stands on\b/i, 'built with'],
  [/\bfurthest off\b/, 'largest deviation'],
  [/\bis no (API key|GraphQL|JSON|address|listing|number|page|token|file|plan|market|setting)\b/, 'is not a valid ...'],
]

const files = [
  ...PAGES,
  ...FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(ts|tsx|js|html|md)$/.test(file) && !file.includes('node_modules'))
      .map((file) => join(folder, file)),
  ),
].filter((file) => file !== 'test/language.test.ts')

const found = new Map(files.map((file) => [file, wordsIn(readFileSync(join(ROOT, file), 'utf8'))] as const).filter(([, words]) => words.length > 0))

function wordsIn(text: string): string[] {
  return SAID_FOR.flatMap(([pattern, instead]) => {
    const hit = pattern.exec(text)
    return hit ? [`"${hit[0]}": say ${instead}`] : []
  })
}

test('texts and names use the standard terms', () => {
  expect([...found]).toEqual([])
})
