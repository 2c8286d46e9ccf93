// Tree of groups and their grades, whose ids `grade_filters[]` and listings use.
import { type Static, Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { verb } from '#core/verb.ts'
import type { CatalogueCtx } from '../context.ts'

export const GroupSchema = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String({ examples: ['Graded'] }),
    slug: Type.String(),
    types: Type.Array(Type.Object({ id: Type.Integer(), label: Type.String({ examples: ['PSA 10'] }), slug: Type.String() }, { title: 'Grade' }), {
      description: 'Conditions or grades below the group',
    }),
  },
  { title: 'GradeGroup' },
)
export type Group = Static<typeof GroupSchema>

export const listGroups = verb(
  { name: 'listGroups', needs: OPERATION_PLAN.listGroups, sharedBy: 'plan', input: Type.Object({}) },
  ({ catalogue: { labels } }: CatalogueCtx): Group[] => {
    const nodes = labels.all()
    return nodes
      .filter((node) => node.parentId === null)
      .map(({ id, name, slug }) => ({
        id,
        name,
        slug,
        types: nodes
          .filter((node) => node.parentId === id)
          .sort((a, b) => labels.rank(a.id) - labels.rank(b.id))
          .map((type) => ({ id: type.id, label: type.name, slug: type.slug })),
      }))
  },
)
