// Completes a field query while an operator types it.
import { Type } from '#core/input.ts'
import { type HasViewer, verb } from '#core/verb.ts'
import type { CatalogueNode } from '../context.ts'
import { type Completions, completionsOf } from '../field-query/complete.ts'

export const CompletionsSchema = Type.Object(
  {
    from: Type.Integer({
      description: 'Where the term being typed starts, from 0: a completion replaces everything from there',
      examples: [0],
    }),
    options: Type.Array(Type.String(), {
      description: 'Complete terms, or names of fields with an operator that a value follows',
      examples: [['rarity:', 'regulation:', 'rarity<=', 'rarity>=']],
    }),
  },
  { title: 'Completions' },
)

export const completeQuery = verb(
  {
    name: 'completeQuery',
    needs: 'operator',
    input: Type.Object({ text: Type.Optional(Type.String({ maxLength: 500, description: 'The query up to the cursor', examples: ['r'] })) }),
  },
  ({ catalogue: { items, categories, labels } }: CatalogueNode & HasViewer, { text = '' }): Completions =>
    completionsOf(text, { items, categories, labels }),
)
