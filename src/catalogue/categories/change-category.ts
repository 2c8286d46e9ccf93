// Changes a category; omitted fields stay unchanged.
import { sql } from 'kysely'
import { invalid } from '#core/errors.ts'
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/changes/change.ts'
import type { Tx } from '#db/schema.ts'
import { CategoryBody, checkParent } from './category-fields.ts'
import { fetchCategory, isWithin } from './stored-categories.ts'
import { renameCategory, saveCategory } from '../records/category-store.ts'
import type { StoredCategory } from '../stored-schemas.ts'
import { refuseTaken } from '../records/unique-violations.ts'

const { ref, name, slug, game, market, parent_id, image } = CategoryBody

export const changeCategory = verb(
  {
    name: 'changeCategory',
    needs: 'catalogue',
    input: Type.Object({
      id: id('category'),
      ref,
      name: Type.Optional(name),
      slug,
      game: Type.Optional(game),
      market: Type.Optional(market),
      parent_id,
      image,
    }),
  },
  (ctx: WriteCtx, { id, ...fields }) =>
    change(ctx, async (tx, note) => {
      if (Object.keys(fields).length === 0) {
        throw invalid('body', 'at_least_one', { fields: ['ref', 'name', 'slug', 'game', 'parent_id', 'image'] })
      }
      // Without this lock, two concurrent moves could form a cycle that neither of them detects.
      await sql`select pg_advisory_xact_lock(7309, 0)`.execute(tx)
      const before = await fetchCategory(tx, id)
      if (fields.market !== undefined && fields.market !== before.market) {
        throw invalid('market', 'market_fixed', { market: before.market })
      }
      if (typeof fields.parent_id === 'number') await checkMove(tx, before, fields.parent_id)
      const { parent_id: parentId, ...values } = { ...before, ...fields }
      await refuseTaken('category', async () => {
        if (values.ref !== before.ref) await renameCategory(tx, note, id, values.ref)
        await saveCategory(tx, note, values, parentId)
      })
      const after = await fetchCategory(tx, id)
      note.audit({ action: 'category.change', subject: 'category', id, before, after })
      return after
    }),
)

async function checkMove(tx: Tx, { id, market }: StoredCategory, parentId: number): Promise<void> {
  await checkParent(tx, parentId, market)
  if (await isWithin(tx, parentId, id)) {
    throw invalid('parent_id', 'own_descendant')
  }
}
