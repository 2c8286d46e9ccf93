// How the tests run: in Node, on one PostgreSQL that the global set-up starts, those that take longest first.
import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

// Threads that import files, and programs that tests start, find what they load compiled.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('node_modules/.cache/mintmark', import.meta.url))

const MEMORY = '/dev/shm'
const ROOM = 4 * 2 ** 30

/** Keeps temporary files, and with them every database, in memory where there is room: nothing of them outlives the run. */
function keepInMemory(): void {
  if (!existsSync(MEMORY)) return
  const { bavail, bsize } = statfsSync(MEMORY)
  if (bavail * bsize < ROOM) return
  const root = mkdtempSync(join(MEMORY, 'mintmark-tests-'))
  // PostgreSQL runs as another user than root.
  chmodSync(root, 0o1777)
  process.env.TMPDIR = root
  process.once('exit', () => rmSync(root, { recursive: true, force: true }))
}
if (process.env.VITEST_WORKER_ID === undefined) keepInMemory()

/** Where files start programs or browsers and wait for them: short to read and long to run, so that their size tells nothing. */
const LONGEST = ['reliability/', 'program/', 'console/', 'desk/', 'client/', 'spec/reference-page', 'spec/guides', 'graphql/graphiql']

/** Starts the longest first, so that no worker ends with a long file while the others have nothing left to do. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const rank = ({ moduleId }: TestSpecification) => (LONGEST.some((start) => moduleId.includes(`/test/${start}`)) ? 0 : 1)
    return sorted.sort((a, b) => rank(a) - rank(b))
  }
}

export default defineConfig({
  // As Node resolves it: otherwise it would be loaded twice, once for us and once for what depends on it.
  resolve: { alias: [{ find: /^graphql$/, replacement: fileURLToPath(import.meta.resolve('graphql')) }] },
  test: {
    environment: 'node',
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts', 'test/support/build-pages.ts'],
    setupFiles: ['test/support/same-cases.ts'],
    pool: 'forks',
    // A worker loads the service once for all its files. They share nothing else: each has a database of its own.
    isolate: false,
    // One more than the two cores that CI has: some wait for what takes its time, such as time-outs, while others work.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    // Pages are asked until they show what is expected: a busy machine takes longer, and is not wrong.
    expect: { poll: { timeout: 60_000, interval: 25 } },
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
})
