// Finds items by their ids in other systems, or by set and collector number, up to 500 at once.
import { sql } from 'kysely'
import { type CatalogueNode, shapeFor } from '#catalogue/context.ts'
import { PRECEDENCE } from '#catalogue/records/facts.ts'
import { closed } from '#catalogue/records/fields.ts'
import { ItemLookup } from '#catalogue/items/item-lookup.ts'
import type { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import type { ItemShape } from '#catalogue/snapshot/item-json.ts'
import { invalidFields } from '#core/errors.ts'
import { name } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { type Problem, problem, reason } from '#core/problems.ts'
import { verb } from '#core/verb.ts'
import type { ReadCtx } from '#db/changes/change.ts'
import type { Queryable } from '#db/schema.ts'
import { SHOPS } from '#prices/judging/shared-ids.ts'
import { itemsNumbered, itemsOfPrinting, PrintingFields, type SetNumber } from '#intake/numbered-items.ts'

export type LookupCtx = ReadCtx & CatalogueNode

/** The result for one identifier: rows of the in-memory catalogue; exactly one if the state is `found`. */
export type LookedUpItem = { state: 'found' | 'ambiguous'; rows: Int32Array } | { state: 'unknown' }

export interface LookedUpItems {
  shape: ItemShape
  /** in the order of the identifiers */
  found: LookedUpItem[]
}

const MAX_IDS = 500
const MAX_CANDIDATES = 10
/** Sources whose record ids are not public ids of items. */
const WITHOUT_IDS = ['operator', 'mintmark', 'tcgdex-api']
/** The catalogues and shops that the program reads. Ids of other systems may exist, too, because operators can add them to items. */
const SOURCES = [...new Set([...PRECEDENCE, ...Object.values(SHOPS).flat()])].filter((source) => !WITHOUT_IDS.includes(source))

const Identifier = Type.Object(
  {
    source: Type.Optional(
      name(`Catalogue or shop that issued the id: ${SOURCES.map((source) => `\`${source}\``).join(', ')}, or another that items have ids of`),
    ),
    id: Type.Optional(name('Id of the item in that source, as text')),
    set: Type.Optional(PrintingFields.set),
    number: Type.Optional(PrintingFields.number),
    finish: PrintingFields.finish,
  },
  closed,
)

type Identifier = Static<typeof Identifier>
interface SourceId {
  source: string
  id: string
}

export const lookupItems = verb(
  {
    name: 'lookupItems',
    needs: OPERATION_PLAN.lookupItems,
    input: Type.Object({
      ids: Type.Array(Identifier, {
        minItems: 1,
        maxItems: MAX_IDS,
        allowed: reason('list', { min: 1, max: MAX_IDS }),
        description: 'Each either `source` and `id`, or `set` and `number`; both may have a `finish`',
        examples: [
          [
            { source: 'pokemontcg', id: 'base1-4' },
            { set: 'Base Set', number: '4/102', finish: 'Holo' },
          ],
        ],
      }),
    }),
  },
  async (ctx: LookupCtx, { ids }): Promise<LookedUpItems> => {
    const { catalogue, db, viewer } = ctx
    const problems = ids.flatMap(problemsOf)
    if (problems.length > 0) throw invalidFields(problems)
    await refuseUnknownSources(db.kysely, ids)
    const lookup = new ItemLookup(db.kysely, (itemId) => knownItem(catalogue, itemId))
    await lookup.load(ids.filter(isSourceId).map(({ source, id }) => ({ source, id })))
    const numbered = itemsNumbered(catalogue, ids.filter(isSetNumber))[Symbol.iterator]()
    const found = ids.map((identifier) => {
      const { finish } = identifier
      if (isSetNumber(identifier)) {
        const markets = numbered.next().value as ReturnType<typeof itemsNumbered>[number]
        return lookedUp(catalogue, itemsOfPrinting(markets, finish))
      }
      const { source, id } = identifier as SourceId
      const one = lookup.find({ source, id, ...(finish !== undefined && { finish }) })
      return lookedUp(catalogue, 'reject' in one ? [] : 'items' in one ? one.items : [one.itemId])
    })
    return { shape: shapeFor(viewer), found }
  },
)

function isSourceId(identifier: Identifier): identifier is Identifier & SourceId {
  return identifier.source !== undefined
}

function isSetNumber(identifier: Identifier): identifier is Identifier & SetNumber {
  return identifier.set !== undefined
}

/** Problems of an identifier, which must have all fields of one form and none of the other. */
function problemsOf({ source, id, set, number }: Identifier, n: number): Problem[] {
  const ofSource = source !== undefined || id !== undefined
  const ofSet = set !== undefined || number !== undefined
  if (ofSource === ofSet) return [problem(`ids.${n}.source`, 'exactly_one', { field: 'set' })]
  const form = Object.entries(ofSource ? { source, id } : { set, number })
  return form.flatMap(([field, value]) => (value === undefined ? [problem(`ids.${n}.${field}`, 'required', {})] : []))
}

/** @throws VALIDATION_ERROR naming each id whose source the program does not read and no item uses */
async function refuseUnknownSources(on: Queryable, ids: readonly Identifier[]): Promise<void> {
  const others = new Set(ids.flatMap(({ source }) => (source === undefined || SOURCES.includes(source) ? [] : source)))
  if (others.size === 0) return
  const { rows } = await sql<{ source: string }>`
    select source from unnest(${[...others]}::text[]) source where exists (select from item_foreign_ids f where f.source = source.source)`.execute(on)
  for (const { source } of rows) others.delete(source)
  const wrong = ids.flatMap(({ source }, n) =>
    source !== undefined && others.has(source) ? [problem(`ids.${n}.source`, 'one_of', { values: SOURCES })] : [],
  )
  if (wrong.length > 0) throw invalidFields(wrong)
}

/** Card and game of the item; an item that this node has not loaded yet counts as a separate card. */
function knownItem({ items }: Catalogue, itemId: number): { card: string; game: string } {
  const row = items.rowOf(itemId)
  return row < 0 ? { card: String(itemId), game: '' } : { card: items.cardOf(row), game: items.gameOf(row) }
}

/** The result for these items; ignores items that this node has not loaded yet. */
function lookedUp({ items }: Catalogue, ids: readonly number[]): LookedUpItem {
  const rows = [...new Set(ids.map((id) => items.rowOf(id)))].filter((row) => row >= 0)
  if (rows.length === 0) return { state: 'unknown' }
  return { state: rows.length === 1 ? 'found' : 'ambiguous', rows: Int32Array.from(rows.slice(0, MAX_CANDIDATES)) }
}
