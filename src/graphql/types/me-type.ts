// The caller in queries, as under /me over REST.
import { MeSchema } from '#accounts/keys/read-me.ts'
import { type Builder, cost, fromDatabase } from '../building/builder.ts'
import { objectFrom } from '../building/from-schema.ts'

/** A separate read. */
export const ME_READ = { ...cost({ weight: 10 }), ...fromDatabase }

export function addMeType(builder: Builder) {
  objectFrom(builder, MeSchema.properties.key, { entries: { allowed_origins: 1, allowed_addresses: 1 } })
  return objectFrom(builder, MeSchema, { entries: { usage: 30 } })
}
