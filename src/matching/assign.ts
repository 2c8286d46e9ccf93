// Assigns source records to items: a pure function of all records and the decisions of people.
import type { AssignOptions, Assignment, Decisions, MatchRecord } from './records.ts'

/** The items, what waits and the set maps; the order of the records has no influence. */
export declare function assign(records: readonly MatchRecord[], decisions: Decisions, options?: AssignOptions): Assignment
