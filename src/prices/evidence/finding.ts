// What a rule has observed about a price, for explanations.
import type { Flag } from './evidence-types.ts'

/** One observation of a rule about a price. */
export interface Finding {
  flag: Flag
  /** position of the price among those judged */
  price: number
  /** market of the price it was compared with; null for rules about a single price */
  otherMarket: number | null
  /** the amount it was compared with, in minor units of its own currency; null if it was not compared */
  compared: number | null
  /** factor between the two amounts; null if it was not compared */
  timesOff: number | null
  /** whether it counts against the price; false without an exchange rate, or if other evidence decided in favour of the price */
  counts: boolean
}
