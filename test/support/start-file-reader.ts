// Starts from the start file at a given time and prints whether it was usable, and all responses.
import { openPool } from '#db/connection/pool.ts'
import type { Schema } from '#db/schema.ts'
import { answersOf, memoryOf } from './start-files.ts'

const [, , url, dataDir, at] = process.argv
const db = openPool<Schema>({ url: url!, max: 4, applicationName: 'mintmark start file reader' })
const memory = memoryOf({ db, dataDir: dataDir!, now: () => new Date(Number(at)) })
const fromFile = await memory.start()
process.stdout.write(JSON.stringify({ fromFile, answers: answersOf(memory) }))
await db.close()
