// The operator's aliases for sealed products, in addition to those of the game.
import { name, remark } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import type { Note } from '#db/changes/change.ts'
import type { Queryable, Tx } from '#db/schema.ts'
import type { SealedAliases } from '#matching/matcher-types.ts'

const MAX_ALIASES = 1_000

export const SealedAliasRows = Type.Array(
  Type.Object(
    {
      words: name('Words used in names of sealed products'),
      means: remark('Words they stand for; empty ignores them'),
    },
    { additionalProperties: false },
  ),
  {
    maxItems: MAX_ALIASES,
    description: "Aliases that replace the operator's earlier ones and take precedence over the built-in ones",
  },
)

/** Replaces the operator's aliases; if words are repeated, the last row counts. The new aliases apply to future matching only. */
export async function setSealedAliases(tx: Tx, note: Note, rows: Static<typeof SealedAliasRows>): Promise<void> {
  const before = await sealedAliases(tx)
  const after = Object.fromEntries(rows.map(({ words, means = '' }) => [words, means]))
  await tx.deleteFrom('sealed_aliases').execute()
  if (rows.length > 0)
    await tx
      .insertInto('sealed_aliases')
      .values(Object.entries(after).map(([words, means]) => ({ words, means })))
      .execute()
  note.audit({ action: 'sealed-aliases.set', subject: 'catalogue', id: 'sealed', before, after })
}

export async function sealedAliases(on: Queryable): Promise<SealedAliases> {
  const rows = await on.selectFrom('sealed_aliases').select(['words', 'means']).orderBy('words').execute()
  return Object.fromEntries(rows.map(({ words, means }) => [words, means]))
}
