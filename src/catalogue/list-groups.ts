// The tree of groups and the grades below them.
import { labelOrder } from '#core/labels.ts'
import { type Static, Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import type { ReadCtx } from '#db/change.ts'
import { closed } from './fields.ts'

export const GroupSchema = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String({ examples: ['Graded'] }),
    slug: Type.String(),
    types: Type.Array(Type.Object({ id: Type.Integer(), label: Type.String({ examples: ['PSA 10'] }), slug: Type.String() })),
  },
  { title: 'Group' },
)
export type Group = Static<typeof GroupSchema>

export const listGroups = verb({ name: 'listGroups', needs: 'operator', input: Type.Object({}, closed) }, async (ctx: ReadCtx): Promise<Group[]> => {
  const nodes = await ctx.db.kysely.selectFrom('groups').selectAll().orderBy('id').execute()
  const order = new Map(nodes.map((node) => [node.id, labelOrder(node.name)]))
  return nodes
    .filter((node) => node.parent_id === null)
    .map(({ id, name, slug }) => ({
      id,
      name,
      slug,
      types: nodes
        .filter((node) => node.parent_id === id)
        .sort((a, b) => (order.get(a.id)! < order.get(b.id)! ? -1 : 1))
        .map((type) => ({ id: type.id, label: type.name, slug: type.slug })),
    }))
})
