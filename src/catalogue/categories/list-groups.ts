// Tree of groups and their grades, whose ids `grade_filters[]` and listings use.
import { type Static, Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { verb } from '#core/verb.ts'
import type { CatalogueCtx } from '../context.ts'

export const GroupSchema = Type.Object(
  {
    id: Type.Integer({ description: 'Unique among groups and grades' }),
    name: Type.String({ description: '`Ungraded` or `Graded`', examples: ['Graded'] }),
    slug: Type.String({ description: 'URL-friendly name' }),
    types: Type.Array(
      Type.Object(
        {
          id: Type.Integer({ description: 'Unique among groups and grades' }),
          label: Type.String({ description: 'Such as `Near Mint` or `PSA 10`', examples: ['PSA 10'] }),
          slug: Type.String({ description: 'URL-friendly name' }),
        },
        { title: 'Grade', description: 'A condition or grade' },
      ),
      {
        description: 'Conditions or grades below the group',
      },
    ),
  },
  { title: 'GradeGroup', description: 'A group of conditions or grades' },
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
