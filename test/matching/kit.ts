// Compact source records of real cards for tests.
import { cardKey, type Decisions, type MatchRecord, type MatchSet, recordKey } from '#matching/matcher-types.ts'
import { finishRules, finishSlug } from '#catalogue/records/finishes.ts'
import { assign } from '#matching/assign.ts'
import type { AssignOptions, Assignment } from '#matching/matcher-types.ts'

export const NO_DECISIONS: Decisions = { same: [], apart: [], setMaps: [], postponed: [] }

/** A set of a source; its ref is `<source>:set:<id>`. */
export function setOf(source: string, id: string, name: string, codes: string[] = []): MatchSet {
  return { ref: `${source}:set:${id}`, name, codes: [id, ...codes], printedTotal: null }
}

/** A record of the set's source; the card's id is the set's id, a hyphen and the number. */
export function card(set: MatchSet, number: string, name: string, more: Partial<MatchRecord> & { printing?: string } = {}): MatchRecord {
  const { printing, ...rest } = more
  const [source, , setId] = set.ref.split(':') as [string, string, string]
  const id = rest.id ?? `${setId}-${number}`
  const finish = printing === undefined ? null : finishSlug(printing, finishRules(rest.game ?? 'pokemon'))
  return {
    key: recordKey(source, id, finish),
    source,
    id,
    card: cardKey(source, id),
    game: 'pokemon',
    genre: 'single',
    family: 'intl',
    set,
    number,
    name,
    finish,
    shopIds: [],
    ...rest,
  }
}

/** A sealed product of a shop. */
export function product(source: string, id: string, name: string, more: Partial<MatchRecord> = {}): MatchRecord {
  return {
    key: recordKey(source, id, null),
    source,
    id,
    card: cardKey(source, id),
    game: 'pokemon',
    genre: 'sealed',
    family: 'intl',
    set: null,
    number: null,
    name,
    finish: null,
    shopIds: [{ source, id }],
    ...more,
  }
}

/** The items as text, `id + id (finish)`, each record by source and id without the set. */
export function joined(records: readonly MatchRecord[], decisions: Partial<Decisions> = {}, options?: AssignOptions): string[] {
  return items(assign(records, { ...NO_DECISIONS, ...decisions }, options))
}

export function items(assignment: Assignment): string[] {
  return assignment.items
    .map(({ records, finish }) => `${records.map(({ key }) => shown(key)).join(' + ')}${finish === null ? '' : ` (${finish})`}`)
    .sort()
}

/** Pending records as text, `id: rules → candidates`. */
export function waiting(records: readonly MatchRecord[], decisions: Partial<Decisions> = {}, options?: AssignOptions): string[] {
  return assign(records, { ...NO_DECISIONS, ...decisions }, options).waiting.map(
    ({ key, reasons, candidates }) =>
      `${shown(key)}: ${reasons.map(({ rule }) => rule).join(' ')} → ${candidates.map((one) => shown(one.key)).join(' ')}`,
  )
}

function shown(key: string): string {
  const [source, id] = key.split('\t')
  return `${source}:${id}`
}
