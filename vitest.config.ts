// Test configuration: Node environment, one PostgreSQL started by the global set-up, longest files first.
import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

// Import workers and programs started by tests share this compile cache.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('node_modules/.cache/mintmark', import.meta.url))

const MEMORY = '/dev/shm'
const MIN_FREE_BYTES = 4 * 2 ** 30

/** Stores temporary files, including every database, in memory if enough is free; they are removed at the end of the run. */
function putTemporaryFilesInMemory(): void {
  if (!existsSync(MEMORY)) return
  const { bavail, bsize } = statfsSync(MEMORY)
  if (bavail * bsize < MIN_FREE_BYTES) return
  const root = mkdtempSync(join(MEMORY, 'mintmark-tests-'))
  // If root runs the tests, PostgreSQL runs as another user.
  chmodSync(root, 0o1777)
  process.env.TMPDIR = root
  process.once('exit', () => rmSync(root, { recursive: true, force: true }))
}
if (process.env.VITEST_WORKER_ID === undefined) putTemporaryFilesInMemory()

/** Tests whose duration does not follow from their file size, by which Vitest sorts new files. */
const LONG_RUNNING = ['.slow.test.ts', '/test/console/', '/test/desk/']

/** Starts the longest files first, so that no worker is left with a long file while the others are idle. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const rank = ({ moduleId }: TestSpecification) => (LONG_RUNNING.some((part) => moduleId.includes(part)) ? 0 : 1)
    return sorted.sort((a, b) => rank(a) - rank(b))
  }
}

const SECOND_MS = 1_000
/** Proofs with clusters, failovers, whole programs, tool chains and walks through every page. */
const SLOW = ['test/**/*.slow.test.ts']
/** Tests in a real browser. */
const PAGES = ['test/{console,desk}/**/*.test.ts', 'test/graphql/graphiql.test.ts']
/** Tests without a database. */
const UNIT = [
  'test/*.test.ts',
  'test/{core,games,index,matching,outbound,sample,ui}/**/*.test.ts',
  'test/prices/{evidence,sources}/**/*.test.ts',
  'test/catalogue/sources/**/*.test.ts',
]

/** Node itself loads the modules, from its compile cache. */
const BY_NODE = { experimental: { viteModuleRunner: false, nodeLoader: false }, setupFiles: ['test/support/no-source-maps.ts'] }
/** Vite also resolves the imports of generated code. */
const BY_VITE = { experimental: { viteModuleRunner: true, nodeLoader: false } }

const project = (name: string, include: string[], exclude: string[], timeoutMs: number, loading: object = BY_NODE) => ({
  extends: true as const,
  test: { name, include, exclude, testTimeout: timeoutMs, hookTimeout: timeoutMs, ...loading },
})

export default defineConfig({
  // Resolve graphql as Node does; otherwise it is loaded twice, once for our code and once for packages that depend on it.
  resolve: { alias: [{ find: /^graphql$/, replacement: fileURLToPath(import.meta.resolve('graphql')) }] },
  test: {
    environment: 'node',
    globalSetup: ['test/support/global-setup.ts', 'test/support/build-pages.ts'],
    setupFiles: ['test/support/same-cases.ts'],
    pool: 'forks',
    // Larger young generations: collecting garbage took a tenth of a worker's time.
    execArgv: ['--max-semi-space-size=64'],
    // Without isolation, a worker loads the service once for all its files. Each file has its own database.
    isolate: false,
    // Two more than the two cores of CI, because many files mostly wait: for browsers, PostgreSQL and timeouts.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    // Tests beside their siblings that only `npm run test:all` runs.
    tags: [{ name: 'slow', description: 'proofs with tool chains, real programs, and pages in every layout' }],
    // Polled expectations may take long on a busy machine without being wrong.
    expect: { poll: { timeout: 60 * SECOND_MS, interval: 25 } },
    // The limits only end a test that hangs; a busy machine is ten times slower than an idle one.
    projects: [
      project('unit', UNIT, SLOW, 60 * SECOND_MS),
      project('api', ['test/**/*.test.ts'], [...SLOW, ...PAGES, ...UNIT], 300 * SECOND_MS),
      project('pages', PAGES, SLOW, 180 * SECOND_MS),
      project('slow', SLOW, [], 600 * SECOND_MS, BY_VITE),
    ],
  },
})
