// Suggests cards while someone types: runs a search and groups the results by card.
import { orNull } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { verb } from '#core/verb.ts'
import type { CatalogueCtx } from '../context.ts'
import { byPlainness, finishRules, finishSlug } from '../records/finishes.ts'
import type { Catalogue } from '../snapshot/catalogue.ts'
import { imagesOf } from '../snapshot/item-json.ts'

/** A card, represented by the plainest of its finishes. */
export interface Suggestion {
  id: number
  name: string
  code: string | null
  category: { id: number; name: string } | null
  /** address of its first image */
  image: string | null
}

/** Rows of the in-memory catalogue, for `suggestionOf`. */
export interface SuggestedRows {
  rows: readonly number[]
}

export const SuggestionSchema = Type.Object(
  {
    id: Type.Integer({ description: 'Id of the base version of the card', examples: [4] }),
    name: Type.String({ description: 'Name, such as `Charizard`', examples: ['Charizard'] }),
    code: orNull(Type.String(), { description: 'Item code or set number', examples: ['4/102'] }),
    category: orNull(Type.Object({ id: Type.Integer(), name: Type.String({ examples: ['Base Set'] }) })),
    image: orNull(Type.String(), { description: 'URL of its first image; null if there is none' }),
  },
  { title: 'Suggestion', description: 'A suggested card, represented by its base version: the plainest of its finishes' },
)

export const MAX_SUGGESTIONS = 10
/** Number of search results that are read at once, and in total; finishes of a card are adjacent. */
const READ_AT_ONCE = 40
const MAX_RESULTS_READ = 200

export const suggestItems = verb(
  {
    name: 'suggestItems',
    needs: OPERATION_PLAN.suggestItems,
    sharedBy: 'plan',
    input: Type.Object({
      q: Type.Optional(
        Type.String({
          maxLength: 200,
          description: 'Text typed so far; cards with words that start with it come first. An empty text returns no suggestions',
          examples: ['dark char'],
        }),
      ),
    }),
  },
  ({ catalogue }: CatalogueCtx, { q = '' }): SuggestedRows => ({
    rows: q.trim() === '' ? [] : baseVersions(catalogue, cardsFound(catalogue, q)),
  }),
)

/** One row for each card that the search finds, best match first. */
function cardsFound({ queries, items }: Catalogue, q: string): Map<string, number> {
  const found = new Map<string, number>()
  for (let from = 0; from < MAX_RESULTS_READ; from += READ_AT_ONCE) {
    const { rows, total } = queries.search(q, {}, from, READ_AT_ONCE)
    for (const row of rows) {
      const card = items.cardOf(row)
      if (!found.has(card)) found.set(card, row)
      if (found.size === MAX_SUGGESTIONS) return found
    }
    if (from + READ_AT_ONCE >= total) return found
  }
  return found
}

/** The plainest item of each card, even if the search did not find it. */
function baseVersions({ items }: Catalogue, cards: ReadonlyMap<string, number>): number[] {
  const base = new Map(cards)
  const names = new Set(Array.from(cards.values(), (row) => items.name[row]!))
  const categories = new Set(Array.from(cards.values(), (row) => items.categoryId[row]!))
  items.categoryRows.forEach(categories, (row) => {
    if (!names.has(items.name[row]!) || !items.live.has(row)) return
    const card = items.cardOf(row)
    const plainest = base.get(card)
    if (plainest !== undefined && plainest !== row && comparePlainness(items, row, plainest) < 0) base.set(card, row)
  })
  return [...base.values()]
}

function comparePlainness(items: Catalogue['items'], a: number, b: number): number {
  const rules = finishRules(items.gameOf(a))
  const [one, other] = [a, b].map((row) => items.finishOf(row)).map((finish) => finish && finishSlug(finish, rules))
  return byPlainness(rules)(one!, other!) || items.id[a]! - items.id[b]!
}

/** The displayed fields of a row's card. */
export function suggestionOf({ items, categories, addresses }: Catalogue, row: number): Suggestion {
  const id = items.id[row]!
  const category = categories.get(items.categoryId[row]!)
  return {
    id,
    name: items.nameOf(row),
    code: items.codeOf(row),
    category: category ? { id: category.id, name: category.name } : null,
    image: imagesOf(id, items.texts.get(row).images, addresses)[0]?.url ?? null,
  }
}
