import { workDir } from '../service.ts'
import { Simulation } from './simulation.ts'
import { replaceTime } from './time.ts'
import { WRITES } from './writes.ts'
const dir = workDir()
const sim = await Simulation.open(dir.path)
replaceTime()
for (const write of WRITES) {
  const t = performance.now()
  const played = await sim.play([{ write, n: 0 }], ([who]) => ({ who: who! })).catch((e) => { console.log(write.name, e.message); process.exit(1) })
  const t1 = performance.now()
  const changes = await sim.baseline.changes(sim.written)
  const t2 = performance.now()
  const really = await sim.baseline.changedTables()
  const missed = really.filter((n: string) => !sim.written.includes(n))
  const t3 = performance.now()
  await sim.reset()
  const t4 = performance.now()
  console.log(write.name, played.steps.length, played.outcomes[0]!.kind, played.outcomes[0]!.text.slice(0, 150), `play ${(t1 - t).toFixed(1)} changes ${(t2 - t1).toFixed(1)} reset ${(t4 - t3).toFixed(1)}`, 'missed', missed, changes.map((c) => c.table).join())
}
await sim.close(); dir.remove()
