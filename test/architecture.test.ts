// The architecture as documented: direction of imports, who reads the environment, who writes each table, how files begin.
import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = new URL('..', import.meta.url).pathname

/** What a module may import besides itself and the type of the settings. */
const MODULES = [
  'privacy',
  'audit',
  'dumps',
  'identity',
  'collections',
  'photos',
  'watches',
  'market',
  'intake',
  'matching',
  'catalogue',
  'prices',
  'live-settings',
  'notifications',
  'webhooks',
  'accounts',
  'sandbox',
]
const BELOW = ['http', 'db', 'core']
const MAY_IMPORT: Record<string, readonly string[]> = {
  core: [],
  index: [],
  games: ['core', 'index'],
  db: ['core'],
  jobs: ['db', 'core'],
  http: ['db', 'core'],
  files: ['db', 'core'],
  accounts: BELOW,
  audit: ['files', ...BELOW],
  prices: ['games', 'files', 'index', ...BELOW],
  outbound: ['core'],
  webhooks: ['accounts', 'outbound', 'jobs', ...BELOW],
  catalogue: ['games', 'prices', 'accounts', 'index', ...BELOW],
  matching: ['catalogue', 'games', 'index'],
  // Files of users: collections and listings are imported the same way.
  intake: ['matching', 'catalogue', 'games', 'prices', 'index', ...BELOW],
  collections: ['intake', 'catalogue', 'games', 'prices', 'accounts', 'index', 'jobs', ...BELOW],
  market: ['collections', 'intake', 'catalogue', 'prices', 'webhooks', 'accounts', 'index', 'jobs', ...BELOW],
  watches: ['market', 'collections', 'catalogue', 'prices', 'webhooks', ...BELOW],
  photos: ['images', 'market', 'catalogue', 'accounts', 'outbound', 'files', ...BELOW],
  identity: ['matching', 'intake', 'watches', 'market', 'collections', 'catalogue', 'games', 'prices', ...BELOW],
  imports: ['identity', 'matching', 'catalogue', 'prices', ...BELOW],
  'public-sources': ['imports', 'catalogue', 'games', 'prices', 'outbound', ...BELOW],
  images: ['catalogue', 'outbound', ...BELOW],
  dumps: ['catalogue', 'prices', 'files', ...BELOW],
  health: ['dumps', 'files', 'prices', 'webhooks', 'accounts', 'jobs', ...BELOW],
  'live-settings': ['settings.ts', ...BELOW],
  notifications: ['health', 'webhooks', 'accounts', 'outbound', 'jobs', ...BELOW],
  stats: ['public-sources', 'health', 'market', 'catalogue', 'games', 'prices', 'webhooks', 'accounts', 'jobs', ...BELOW],
  mirror: ['dumps', 'catalogue', 'core'],
  // What is done in a sandbox is what the operations of the other modules do.
  sandbox: ['imports', 'market', 'collections', 'catalogue', 'prices', 'accounts', 'jobs', ...BELOW],
  // Shared by both public APIs for calling verbs: it depends on the modules, so that these do not depend on each other.
  'public-context.ts': [...MODULES, ...BELOW],
  rest: ['public-context.ts', ...MODULES, ...BELOW],
  graphql: ['index', 'public-context.ts', ...MODULES, ...BELOW],
  mcp: ['public-context.ts', ...MODULES, ...BELOW],
  privacy: ['photos', 'webhooks', 'market', 'audit', 'accounts', 'files', ...BELOW],
  operator: ['pages', 'public-sources', 'imports', 'stats', 'health', ...MODULES, 'images', 'jobs', ...BELOW],
  pages: ['http', 'core'],
  'public.ts': ['rest', 'graphql', 'mcp', 'pages', 'images', 'public-context.ts', ...MODULES, ...BELOW],
  // The columns of every module that stores some, and the feed that updates them.
  'start-file.ts': ['market', 'catalogue', 'index', 'db', 'core'],
  node: ['start-file.ts', 'public.ts', 'operator', 'public-sources', 'stats', 'images', 'outbound', ...MODULES, 'files', 'jobs', ...BELOW],
  cli: ['node', 'settings.ts', 'games', 'public-sources', 'outbound', 'stats', 'imports', 'mirror', 'health', ...MODULES, 'files', 'jobs', ...BELOW],
  'settings.ts': ['core'],
  'config.ts': ['settings.ts', 'prices', 'core'],
  'main.ts': ['cli'],
}
/** Files that create the settings or pass them on; all others only use their type. */
const READ_SETTINGS = ['cli', 'node', 'public.ts']

/** The writer of each table; any module may join it. */
const OWNERS: Record<string, readonly string[]> = {
  audit: ['audit_archives'],
  'public-sources': ['source_fetches'],
  dumps: ['published_dump'],
  accounts: [
    'accounts',
    'listing_intakes',
    'credit_entries',
    'api_keys',
    'api_key_scopes',
    'api_key_usage',
    'operator_tokens',
    'console_sessions',
    'people',
    'person_links',
    'person_tokens',
    'person_sessions',
    'sign_in_addresses',
    'sign_in_attempts',
    'seller_sessions',
    'rate_limit_leases',
  ],
  catalogue: [
    'categories',
    'synonyms',
    'category_codes',
    'category_changes',
    'items',
    'item_foreign_ids',
    'item_aliases',
    'source_records',
    'source_statements',
    'item_sources',
  ],
  prices: [
    'own_prices',
    'groups',
    'prices',
    'price_points',
    'price_archives',
    'changed_items',
    'hidden_points',
    'imports',
    'import_refusals',
    'held_prices',
    'held_price_params',
    'price_decisions',
    'price_decision_prices',
    'confirmed_prices',
    'rates',
    'price_indices',
    'price_mappings',
    'price_feeds',
    'price_statements',
    'usual_ratios',
    'usual_ratio_decisions',
    'source_terms',
    'sources_set_aside',
    'price_reviews',
    'price_review_changes',
    'merged_points',
  ],
  photos: ['photos', 'picture_copies'],
  market: [
    'certificates',
    'notices',
    'listings',
    'listing_views',
    'price_jobs',
    'price_job_rows',
    'orders',
    'offers',
    'order_buyers',
    'sales',
    'sale_asks',
    'sale_cancellations',
    'vacations',
    'parked_listings',
    'listing_columns',
    'listing_imports',
    'listing_import_rows',
    'repricing_rules',
    'listing_decisions',
    'approval_rules',
    'approval_rule_versions',
    'approval_rule_log',
  ],
  collections: [
    'collections',
    'collection_items',
    'collection_columns',
    'collection_lots',
    'collection_disposals',
    'collection_worth_days',
    'collection_worth_amounts',
    'collection_parked_rows',
    'parked_row_reasons',
  ],
  watches: ['watches', 'watch_progress'],
  identity: [
    'merges',
    'splits',
    'import_merges',
    'match_decisions',
    'match_queue',
    'match_set_maps',
    'decided_matches',
    'set_decision_merges',
    'sealed_aliases',
    'merged_foreign_ids',
    'merged_sources',
    'merged_prices',
    'merged_held_prices',
    'merged_listings',
    'merged_sales',
    'merged_records',
  ],
  webhooks: ['webhooks', 'webhook_events', 'webhook_attempts', 'event_counters', 'event_positions', 'webhook_turns'],
  'live-settings': ['service_settings'],
  notifications: ['notifications', 'notification_reads', 'notification_deliveries'],
  jobs: ['workers'],
  stats: ['day_counts', 'search_terms'],
  privacy: ['erasures'],
  sandbox: ['sandboxes'],
  db: [
    'merged_rows',
    'person_keys',
    'change_log',
    'change_log_floor',
    'catalogue_log_floor',
    'audit_log',
    'idempotency_keys',
    'start_marks',
    'demo_record',
  ],
}

interface Import {
  from: string
  to: string
  typeOnly: boolean
}

function sourcesIn(directory: string): string[] {
  const files = readdirSync(join(ROOT, directory), { recursive: true, encoding: 'utf8' })
  return files.filter((file) => /\.tsx?$/.test(file) && !file.includes('node_modules')).map((file) => join(directory, file))
}

const sources = sourcesIn('src')
const texts = new Map(sources.map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]))
const imports = sources.flatMap(importsOf).filter(({ to }) => to.startsWith('src/'))

function importsOf(from: string): Import[] {
  const text = readFileSync(join(ROOT, from), 'utf8')
  const found = [...text.matchAll(/^(?:import|export)( type)?\b[^'"`;]*?from '([#.][^']+)'/gm), ...text.matchAll(/import(\()'([#.][^']+)'\)/g)]
  return found.map(([, type, path]) => ({
    from,
    to: fileOf(path!, from),
    typeOnly: type === ' type',
  }))
}

/** The file that an import refers to; pages import shared files by a prefix. */
function fileOf(path: string, from: string): string {
  if (path.startsWith('#ui/')) return path.slice(1)
  return path.startsWith('#') ? `src/${path.slice(1)}` : normalize(join(dirname(from), path))
}

/** The names that a file imports from the sources. */
function importedNames(from: string): [from: string, names: string[], to: string][] {
  return [...texts.get(from)!.matchAll(/^(?:import|export)\b\s*(?:type )?\{([^}]*)\} from '([#.][^']+)'/gm)].map(([, names, path]) => [
    from,
    names!
      .split(',')
      .map((name) =>
        name
          .trim()
          .replace(/^type /, '')
          .replace(/ as .*/, ''),
      )
      .filter(Boolean),
    fileOf(path!, from),
  ])
}

function moduleOf(file: string): string {
  const path = file.slice('src/'.length)
  return path in MAY_IMPORT ? path : path.split('/', 1)[0]!
}

test('imports are found', () => {
  expect(sources.length).toBeGreaterThan(100)
  expect(imports.length).toBeGreaterThan(sources.length)
  for (const { to } of imports) expect(texts.has(to) || to.endsWith('.json') ? [] : [to]).toEqual([])
})

test('every module is listed', () => {
  expect([...new Set(sources.map(moduleOf))].filter((module) => !(module in MAY_IMPORT))).toEqual([])
})

test('modules import only lower layers, and entry layers do not import each other', () => {
  const wrong = imports.filter(({ from, to, typeOnly }) => {
    const [here, there] = [moduleOf(from), moduleOf(to)]
    if (here === there) return false
    if (there === 'config.ts') return !typeOnly && !READ_SETTINGS.includes(here)
    return !MAY_IMPORT[here]?.includes(there)
  })
  expect(wrong.map(({ from, to }) => `${from} → ${to}`)).toEqual([])
})

/** The folder of a file at the second level, such as `prices/history`; for files of a module's own folder, the module. */
function unitOf(file: string): string {
  const folders = file.split('/').slice(1, -1)
  return folders.length === 0 ? file : folders.slice(0, 2).join('/')
}

test('there are no import cycles between folders of the second level, of types or of values', () => {
  const targets = Map.groupBy(imports, ({ from }) => unitOf(from))
  const done = new Set<string>()
  const circles: string[] = []
  const visit = (unit: string, path: string[]): void => {
    if (path.includes(unit)) return void circles.push([...path.slice(path.indexOf(unit)), unit].join(' → '))
    if (done.has(unit)) return
    for (const there of new Set((targets.get(unit) ?? []).map(({ to }) => unitOf(to)))) if (there !== unit) visit(there, [...path, unit])
    done.add(unit)
  }
  for (const unit of targets.keys()) visit(unit, [])
  expect(circles).toEqual([])
})

test('no folder has more than 25 files', () => {
  const folders = Map.groupBy(sources, (file) => dirname(file))
  // Migrations are only ever added, and read by their dates.
  folders.delete('src/db/migrations')
  expect([...folders].filter(([, files]) => files.length > 25).map(([folder, files]) => `${folder}: ${files.length}`)).toEqual([])
})

test('there are no import cycles, of types or of values', () => {
  const files = ['src', 'ui', 'console', 'desk', 'client', 'test', 'bench', 'reliability', 'sample'].flatMap(sourcesIn)
  const targets = Map.groupBy(files.flatMap(importsOf), ({ from }) => from)
  const done = new Set<string>()
  const circles: string[] = []
  const visit = (file: string, path: string[]): void => {
    if (path.includes(file)) return void circles.push([...path.slice(path.indexOf(file)), file].join(' → '))
    if (done.has(file)) return
    for (const { to } of targets.get(file) ?? []) visit(to, [...path, file])
    done.add(file)
  }
  for (const file of files) visit(file, [])
  expect(circles).toEqual([])
})

test('exported functions and classes have a doc comment', () => {
  const without: string[] = []
  let seen = 0
  for (const file of sources) {
    for (const [, names, to] of importedNames(file)) {
      if (moduleOf(to) === moduleOf(file)) continue
      for (const name of names) {
        const [, before] = texts.get(to)!.match(new RegExp(`^(.*)\\nexport (?:async )?(?:function\\*?|class) ${name}\\b`, 'm')) ?? []
        if (before === undefined) continue
        seen += 1
        if (!before.endsWith('*/')) without.push(`${to}: ${name}`)
      }
    }
  }
  expect(seen).toBeGreaterThan(300)
  expect([...new Set(without)].sort()).toEqual([])
})

test('only one file reads the environment', () => {
  const isReader = (text: string) => /process\.env|process\['env'\]|\benv\b.*from 'node:process'/.test(text)
  // A process passes it on when it replaces itself.
  const readers = [...texts].filter(([, text]) => isReader(text.replaceAll('...process.env', '')))
  expect(readers.map(([file]) => file)).toEqual(['src/config.ts'])
})

test('the start file has no uninitialised memory', () => {
  const stored = [...texts].filter(([, text]) => text.includes('(columns: ColumnStore'))
  expect(stored.length).toBeGreaterThan(10)
  const unsafe = stored.filter(([, text]) => text.includes('allocUnsafe')).map(([file]) => file)
  // Only for pages of responses.
  expect(unsafe).toEqual(['src/catalogue/snapshot/catalogue.ts'])
})

test('every table has an owner', () => {
  const types = texts.get('src/db/tables.generated.ts')!
  const body = types.slice(types.indexOf('export interface Tables {'))
  const tables = [...body.slice(0, body.indexOf('\n}')).matchAll(/^ {2}(\w+): \{/gm)].map((match) => match[1]!)
  expect(tables.sort()).toEqual(Object.values(OWNERS).flat().sort())
})

test('only the module that owns a table writes to it', () => {
  const owner = new Map(Object.entries(OWNERS).flatMap(([module, tables]) => tables.map((table) => [table, module])))
  const write =
    /(?:insertInto|updateTable|deleteFrom|mergeInto)\('(\w+)|\b(?:insert into|delete from|update|truncate|copy|merge into)\s+(?:only\s+)?(\w+)/gi
  const wrong: string[] = []
  let seen = 0
  for (const [file, text] of texts) {
    // A mirror writes its own database file.
    if (file.startsWith('src/db/migrations/') || file.startsWith('src/mirror/')) continue
    for (const [, called, written] of withoutComments(text).matchAll(write)) {
      const module = owner.get((called ?? written)!)
      if (module === undefined) continue
      seen += 1
      if (module !== moduleOf(file)) wrong.push(`${file} writes ${called ?? written}, which belongs to ${module}`)
    }
  }
  expect(seen).toBeGreaterThan(30)
  expect(wrong).toEqual([])
})

test('a verb has the same name as its export', () => {
  const declared = [...texts.values()].flatMap((text) => [...text.matchAll(/export const (\w+) = (?:verb|listVerb)\(\s*\{\s*(?:name: '(\w+)')?/g)])
  expect(declared.length).toBeGreaterThan(80)
  expect(declared.filter(([, exported, name]) => exported !== name).map(([text]) => text)).toEqual([])
})

test('file names match their content', () => {
  const named = ['src', 'test', 'bench', 'sample'].flatMap(sourcesIn)
  const vague = /^(utils?|helpers?|managers?|base|common)$/
  expect(
    named.filter(
      (file) =>
        basename(file)
          .split(/[-.]/)
          .some((word) => vague.test(word)) ||
        dirname(file)
          .split('/')
          .some((word) => vague.test(word)),
    ),
  ).toEqual([])
})

test('every file starts with a one-sentence description', () => {
  const files = ['src', 'test', 'bench', 'sample'].flatMap(sourcesIn)
  const without = files.filter((file) => {
    const lines = readFileSync(join(ROOT, file), 'utf8')
      .replace(/^#!.*\n/, '')
      .split('\n')
    const end = lines.findIndex((line) => !line.startsWith('//'))
    return !/^\S.{9,}/.test(
      lines
        .slice(0, end)
        .map((line) => line.replace(/^\/\/ ?/, ''))
        .join(' '),
    )
  })
  expect(without).toEqual([])
})

/** Without comments, so that their words are not mistaken for SQL. */
function withoutComments(text: string): string {
  return text
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/^\s*\/\/.*$/gm, '')
    .replace(/ \/\/ .*$/gm, '')
}
