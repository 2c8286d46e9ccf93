// Checks that no regular expression takes more than linear time, whatever text comes from outside.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseAst } from 'vite'
import { PHOTO_KEY } from '#catalogue/records/image-addresses.ts'
import { GAMES } from '#games/games.ts'
import { compileForm } from '#games/number-forms.ts'
import { CATALOGUE_TEXT, LINE, LINES, PERSON_NAME, VISIBLE_LINE } from '#core/text.ts'

// Without a program for this platform, the checker runs in JavaScript, a few times slower.
process.env.RECHECK_BACKEND = 'auto'
const { checkSync } = await import('recheck')

const ROOT = new URL('..', import.meta.url).pathname

/** These match only messages of the service, of at most 500 characters, in the operator's own browser. */
const READ_BY_PAGES_ONLY = /^console\/src\/words\//

/** Expressions that the checker cannot judge, with the reason why they are linear. */
const LINEAR_BECAUSE: Readonly<Record<string, string>> = Object.fromEntries(
  [VISIBLE_LINE, LINE, CATALOGUE_TEXT, PERSON_NAME].map((source) => [
    source,
    'looks ahead once, from the start, through classes that exclude each other; then reads one class to the end',
  ]),
)

/** Files that build expressions at run time, and the resulting expressions. */
const BUILT: Readonly<Record<string, readonly string[]>> = {
  'src/accounts/credentials/key-format.ts': ['^mintmark_[0-9A-Za-z]{49}$'],
  'src/accounts/provider/provider-people.ts': [PERSON_NAME],
  // Patterns of schemas are checked as strings.
  'src/core/input.ts': [],
  'src/core/settings/readers.ts': [VISIBLE_LINE],
  'src/core/text.ts': [VISIBLE_LINE, LINE, LINES, CATALOGUE_TEXT, PERSON_NAME],
  // The forms of all games, and those with every kind of part.
  'src/games/number-forms.ts': [
    ...GAMES.all.flatMap(({ numbers }) => numbers.forms),
    compileForm({ set: ['capitals', 'digits?'], separator: '-', number: ['capitals?', 'digits', 'lowercase?', '★?'] }),
  ].map(({ expression }) => expression.source),
  'src/images/routes.ts': [`${PHOTO_KEY}([1-9]\\d{0,3})\\.webp$`],
  'src/market/approval/review.ts': [PHOTO_KEY],
  'src/photos/copy-pictures.ts': [PHOTO_KEY],
  'src/http/openapi/examples.ts': ['^/api/v1/items/([^/]+)/history/([^/]+)$'],
}

interface Found {
  file: string
  source: string
  flags: string
}

interface Node {
  type: string
  [field: string]: unknown
}

const found: Found[] = []
const built = new Set<string>()
for (const file of globSync(['src/**/*.ts', 'client/src/**/*.ts', '{ui,console/src,desk/src}/**/*.{ts,tsx}'], { cwd: ROOT })) {
  if (READ_BY_PAGES_ONLY.test(file)) continue
  const text = readFileSync(join(ROOT, file), 'utf8')
  visit(parseAst(text, { lang: file.endsWith('x') ? 'tsx' : 'ts' }), file)
}

function visit(part: unknown, file: string): void {
  if (Array.isArray(part)) for (const one of part) visit(one, file)
  if (typeof part !== 'object' || part === null || Array.isArray(part)) return
  const node = part as Node
  const { regex, value, callee } = node as { regex?: { pattern: string; flags: string }; value?: unknown; callee?: { name?: string } }
  if (node.type === 'Literal' && regex) found.push({ file, source: regex.pattern, flags: regex.flags })
  // Patterns of schemas are strings.
  else if (node.type === 'Literal' && typeof value === 'string' && /^\^.*\$$/s.test(value)) found.push({ file, source: value, flags: 'u' })
  else if ((node.type === 'NewExpression' || node.type === 'CallExpression') && callee?.name === 'RegExp') built.add(file)
  for (const child of Object.values(node)) visit(child, file)
}

/** The check takes seconds, and minutes on a busy machine. */
const PATIENCE_MS = 1_800_000

test('every regular expression runs in linear time', { timeout: PATIENCE_MS }, () => {
  expect(found.length).toBeGreaterThan(150)
  const all = new Map([
    ...found.map((one) => [`/${one.source}/${one.flags}`, one] as const),
    ...Object.entries(BUILT).flatMap(([file, sources]) => sources.map((source) => [`/${source}/u`, { file, source, flags: 'u' }] as const)),
  ])
  const wrong: string[] = []
  const excused = new Set<string>()
  for (const [name, { file, source, flags }] of all) {
    const checked = checkSync(source, flags, { checker: 'automaton', timeout: PATIENCE_MS })
    if (checked.status === 'safe') continue
    if (source in LINEAR_BECAUSE && checked.status === 'unknown') excused.add(source)
    else wrong.push(`${file}: ${name} is ${checked.status === 'vulnerable' ? checked.complexity.summary : checked.status}`)
  }
  expect(wrong).toEqual([])
  expect([...excused].sort()).toEqual(Object.keys(LINEAR_BECAUSE).sort())
})

test('all regular expressions built at run time are listed', () => {
  expect([...built].sort()).toEqual(Object.keys(BUILT).sort())
})
