// Archives a month in a process that kills itself after a step: `node archive-and-die.ts <database> <folder> <month> <step>`.
import { openPool } from '#db/connection/pool.ts'
import type { Schema } from '#db/schema.ts'
import { archiveMonth } from '#files/month-archive.ts'
import { monthsOfPrices } from '#prices/archive/archive-months.ts'
import { openPriceArchive } from '#prices/archive/price-archive.ts'

const [url, archiveDir, month, step] = process.argv.slice(2) as [string, string, string, string]
const db = openPool<Schema>({ url, max: 2, applicationName: 'archive and die' })
await archiveMonth(
  monthsOfPrices(openPriceArchive({ archiveDir, dumpsS3: null }).files),
  {
    db,
    now: new Date(),
    onStep: (done) => {
      if (done === step) process.kill(process.pid, 'SIGKILL')
    },
  },
  month,
)
