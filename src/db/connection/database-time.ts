// The database's clock in SQL: no other file reads it, so a simulation finds every use here.
import { type RawBuilder, sql } from 'kysely'

/** The same as `databaseTime`, for statements without Kysely. */
export const DATABASE_TIME = 'clock_timestamp()'

/**
 * The time by the database's clock, for what several processes must agree on while each has its own clock: leases between them and
 * signs of life. What the product promises gets its time as a parameter, from the node's `now`, which may be moved.
 */
export const databaseTime: RawBuilder<Date> = sql.raw(DATABASE_TIME)
