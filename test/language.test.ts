// The glossary: discouraged terms do not occur in code, tests and docs.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = new URL('..', import.meta.url).pathname
const FOLDERS = ['src', 'test', 'ui', 'console', 'desk', 'client', 'examples', 'bench', 'reliability', 'sample', 'graphiql', 'docs', 'deploy']
const PAGES = ['README.md', 'CONTRIBUTING.md']
/** Built files, and files that others wrote or generated. */
const SKIPPED = /(^|\/)(node_modules|dist)\/|^test\/language\.test\.ts$/

interface Term {
  say: string
  /** patterns that no file may contain; only patterns without another meaning */
  everywhere?: RegExp
  /** words that pages may not contain, except in their ordinary meaning */
  inPages?: RegExp
}

/** By the "Instead of" column of the glossary. */
const GLOSSARY: Record<string, Term> = {
  'room, house': {
    say: 'module, layer, codebase',
    everywhere: /\b(every|other|one|each|of a|this) rooms?\b|\broomOf\b|\broom `src|## (Rooms|House)\b/gi,
    inPages: /\b(rooms?|houses?)\b/gi,
  },
  'lane, direct lane': { say: 'fast path', everywhere: /\b(direct|fast|plain|slow) lanes?\b/gi, inPages: /\blanes?\b/gi },
  'Known, Found, Kept, remembered, offered': {
    say: 'cached, cache entry',
    everywhere: /\b(is|are|was|were) remembered (until|for|as long)\b|\bremembered (answers?|responses?|queries|results?)\b/gi,
    inPages: /\bremember(s|ed|ing)?\b|\b(Known|Found|Kept|Offered)\b/g,
  },
  'Together, committing together': {
    say: 'group commit, batch',
    everywhere: /\bTogether(?=[<(])|\bcommitting together|\bcommit-together/g,
    inPages: /\bcommitting together\b/gi,
  },
  voiced: { say: 'error mapping', everywhere: /\b(un)?voiced\b/gi },
  'moved (status)': { say: 'transition', everywhere: /\bmoved(To|From)Status\b|\bstatus (is|was) moved\b/gi },
  'Occasion, happening': { say: 'event', everywhere: /\b[Oo]ccasions?\b/g, inPages: /\bhappenings?\b/gi },
  'Asker, whoever asks, caller who is known': {
    say: 'caller, client, authenticated caller',
    everywhere: /\b[Aa]skers?\b|\bwhoever asks\b|\bcallers? (who|that) (is|are) known\b/gi,
    inPages: /\bwho asks\b/gi,
  },
  'take back (an import)': {
    say: 'revert, undo',
    everywhere:
      /\b(imports?|batch|batches) (is|are|was|were|can be) taken back\b|\b(take|takes|took) (it|this one|an import|a batch) back\b|\btaking back\b/gi,
    inPages: /(?<![/`-])\b(take|takes|took|taken) (\w+ )?back\b/gi,
  },
  'goes by, stands, leads to, comes before': {
    say: 'uses, is, redirects to, duplicate of',
    inPages: /\bgo(es)? by\b|\bstands?\b|\b(come|comes|came) before\b|\bleads? to\b/gi,
  },
  'is made, is saved': { say: 'created, saved', inPages: /\b(is|are) (made|saved)\b/gi },
  'most, furthest off, in all': {
    say: 'peak, largest deviation, total',
    everywhere: /\bfurthest off\b|>most: /g,
    inPages: /\bin all(?=[.,;:]| \d)/gi,
  },
  'dear, dearest query': {
    say: 'expensive, most expensive query',
    everywhere: /\bdearest\b|\bdear (query|queries|request|requests)\b/gi,
    inPages: /\bdear(er)?\b/gi,
  },
  'rude client': { say: 'misbehaving client', everywhere: /\brude\b/gi },
  'plain server (benchmark)': { say: 'baseline server', everywhere: /\bplain server\b/gi },
  'what it stands on': { say: 'built with', everywhere: /\bwhat it stands on\b/gi },
  'is no X': {
    say: 'is not a valid X, or invalid X',
    everywhere: /\bis no (API key|GraphQL|JSON|address|listing|number|page|token|file|plan|market|setting)\b/gi,
    inPages: /(?<!there )\bis no (?!longer)/gi,
  },
}

/** Places where a word has its ordinary meaning: the file, the words around it, and the meaning. */
const ORDINARY: readonly { file: string; text: string; meaning: string }[] = [
  { file: 'docs/reliability.md', text: '**Found and fixed**', meaning: 'defects that were found' },
  { file: 'docs/operating.md', text: '"Known sellers at usual prices"', meaning: 'the name of an approval rule' },
  { file: 'docs/tr/operating.md', text: '"Known sellers at usual prices"', meaning: 'the name of an approval rule' },
  { file: 'docs/benchmarks.md', text: 'came before, in line N', meaning: 'refusals as the import reports them' },
]

const files = [
  ...PAGES,
  ...FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(ts|tsx|js|html|md|yml|cfg|conf)$/.test(file))
      .map((file) => join(folder, file)),
  ),
].filter((file) => !SKIPPED.test(file))

interface Hit {
  file: string
  line: number
  text: string
}

function hitsOf({ everywhere, inPages }: Term): Hit[] {
  return files.flatMap((file) => {
    const patterns = [everywhere, file.endsWith('.md') ? inPages : undefined].filter((pattern) => pattern !== undefined)
    const text = patterns.length === 0 ? '' : readFileSync(join(ROOT, file), 'utf8')
    return patterns.flatMap((pattern) =>
      [...text.matchAll(pattern)]
        .filter(({ index }) => !ORDINARY.some((each) => each.file === file && text.slice(index - 60, index + 60).includes(each.text)))
        .map(({ index, 0: found }) => ({ file, line: text.slice(0, index).split('\n').length, text: found })),
    )
  })
}

test.each(Object.entries(GLOSSARY))('the term "%s" is not used', (_, term) => {
  expect(hitsOf(term).map(({ file, line, text }) => `${file}:${line}: "${text}", say ${term.say}`)).toEqual([])
})
