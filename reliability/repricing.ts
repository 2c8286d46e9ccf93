// Runs repricing rules over random markets: 1,000,000 steps by default. No price may be set below its floor, and rules must settle.
//   npx node reliability/repricing.ts [steps] [seed]
import { ROUNDS, walk } from './repricing-walk.ts'

const steps = Number(process.argv[2] ?? 1_000_000)
const seed = Number(process.argv[3] ?? 20261123)
const { below, unsettled, markets, longest, ...done } = walk(steps, seed)
console.log(`${done.steps.toLocaleString('en')} steps over ${markets.toLocaleString('en')} markets, seed ${seed}`)
console.log(`Below the floor: ${below.length}; not settled within ${ROUNDS} rounds: ${unsettled.length}; most rounds: ${longest}`)
for (const one of [...below, ...unsettled].slice(0, 5)) console.log(one)
process.exitCode = below.length + unsettled.length > 0 ? 1 : 0
