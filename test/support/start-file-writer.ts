// Writes the start file repeatedly until it is killed; prints a message once it begins.
import { openPool } from '#db/connection/pool.ts'
import type { Schema } from '#db/schema.ts'
import { memoryOf } from './start-files.ts'

const [, , url, dataDir] = process.argv
const db = openPool<Schema>({ url: url!, max: 4, applicationName: 'mintmark start file writer' })
const memory = memoryOf({ db, dataDir: dataDir! })
await memory.start()
process.stdout.write('writing\n')
for (;;) {
  await memory.feed.pull()
  await memory.write()
}
