// Grades of the group tree by label; an unknown grading company or grade is added on first use.
import { sql } from 'kysely'
import { parseLabel } from '#core/labels.ts'
import type { Note } from '#db/changes/change.ts'
import type { Queryable, Tx } from '#db/schema.ts'

/** Ids of all labels by canonical text. */
export async function labelIds(db: Queryable): Promise<Map<string, number>> {
  const rows = await db.selectFrom('groups').select(['id', 'name']).where('parent_id', 'is not', null).execute()
  return new Map(rows.map((row) => [row.name, row.id]))
}

/** The id of a canonical graded label that is not in the tree yet; concurrent writers get the same id. */
export async function addLabel(tx: Tx, note: Note, label: string): Promise<number> {
  const parsed = parseLabel(label)
  if (!parsed) throw new Error(`${label} is not a label`)
  const slug = label.toLowerCase().replace(/[^a-z0-9]+/g, '-')
  await sql`
    insert into groups (parent_id, name, slug)
    select id, ${label}, ${slug} from groups where parent_id is null and slug = ${parsed.group}
    on conflict do nothing`.execute(tx)
  const row = await tx.selectFrom('groups').select('id').where('name', '=', label).where('parent_id', 'is not', null).executeTakeFirstOrThrow()
  note.changed('groups', [row.id])
  return row.id
}
