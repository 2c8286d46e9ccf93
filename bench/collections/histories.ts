// `node bench/collections/histories.ts [histories] [seed]`: enters generated histories of lots and disposals over HTTP and compares every profit, in four
// moneys and by both methods, with an independent computation from the export alone.
import { call } from '#core/verb.ts'
import { changeAccount } from '#accounts/change-account.ts'
import { randomNumbers } from '#core/random.ts'
import { startDatabaseServer } from '../database.ts'
import { freePort, startServer } from '../processes.ts'
import { generateHistories } from './generated-histories.ts'

const HISTORIES = Number(process.argv[2] ?? 10_000)
const SEED = Number(process.argv[3] ?? 34)
const TOKEN = 'operator token of the benchmark'
/** Collections that are written at the same time. */
const AT_ONCE = 20

const server = await startDatabaseServer()
const database = await server.create('histories')
const { accounts, ctx } = database
await call(changeAccount, ctx, { id: accounts.plus.id, listing_intake: { quota: 1_000_000 } })
const port = await freePort()
const settings = { DATABASE_URL: database.url, PORT: '0', OPERATOR_PORT: String(port), OPERATOR_TOKEN: TOKEN, RATE_LIMITS: 'off', LOG_LEVEL: 'warn' }
const node = await startServer('src/main.ts', ['serve'], settings)
const service = {
  publicUrl: node.url,
  key: accounts.plus.key,
  operatorUrl: `http://127.0.0.1:${port}`,
  operatorToken: TOKEN,
  accountId: accounts.plus.id,
  db: ctx.db.kysely,
}
const started = performance.now()
const tell = (count: number) => console.log(`${count} of ${HISTORIES} histories, ${Math.round((performance.now() - started) / 1_000)} s`)
const { histories, comparisons, steps, differences } = await generateHistories(service, {
  histories: HISTORIES,
  random: randomNumbers(SEED),
  atOnce: AT_ONCE,
  tell,
})
console.log('\n| Step | Done | Refused |\n|---|---:|---:|')
for (const [name, { done, refused }] of steps) console.log(`| ${name} | ${done} | ${refused} |`)
console.log(`\n| Histories | Profits compared | Differing |\n|---:|---:|---:|\n| ${histories} | ${comparisons} | ${differences.length} |`)
for (const one of differences.slice(0, 20)) console.error(one)
await node.stop()
await database.close()
await server.close()
process.exitCode = differences.length > 0 ? 1 : 0
