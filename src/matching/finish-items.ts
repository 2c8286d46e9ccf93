// The items of one card: one for each finish that any of its sources states.
import type { Cluster, Member } from './clusters.ts'
import { byPlainness, finishKey, finishRules, finishWords, isFoil } from '#catalogue/records/finishes.ts'
import type { FinishRules } from '#games/schema.ts'
import type { AssignedItem, AssignedRecord } from './matcher-types.ts'
import { compare, type SourceCard } from './source-cards.ts'
import type { Verdicts } from './verdicts.ts'

/** @param precedence of sources, which orders an item's records */
export function itemsOf({ members }: Cluster, verdicts: Verdicts, precedence: readonly string[]): AssignedItem[] {
  const card = members[0]!.card.records[0]!.key
  if (members.length === 1 && members[0]!.card.records.length === 1) {
    const [
      {
        card: {
          records: [only],
        },
        method,
        confidence,
      },
    ] = members as [Member]
    return [{ card, records: [{ key: card, method, confidence, whole: false }], finish: only!.finish, primary: true }]
  }
  const rules = finishRules(members[0]!.card.game)
  const finishes = stated(members, rules)
  const alias = aliases(members, verdicts, rules)
  const itemByKey = new Map<string, AssignedItem>()
  for (const slug of finishes.all) {
    const key = keyOf(slug, finishes, alias)
    const finish = finishes.all.find((other) => finishKey(other, rules) === key) ?? slug
    if (!itemByKey.has(key)) itemByKey.set(key, { card, records: [], finish, primary: false })
  }
  if (itemByKey.size === 0) itemByKey.set('', { card, records: [], finish: null, primary: false })
  const items = [...itemByKey.values()].sort((a, b) => byPlainness(rules)(a.finish, b.finish))
  items[0]!.primary = true
  for (const { card: own, method, confidence } of members) {
    for (const { key, finish } of own.records) {
      const whole = finish === null && items.length > 1
      const entry: AssignedRecord = { key, method, confidence, whole }
      if (finish === null) for (const item of items) item.records.push({ ...entry })
      else itemByKey.get(keyOf(finish, finishes, alias))!.records.push(entry)
    }
  }
  const rank = (key: string) => {
    const at = precedence.indexOf(key.slice(0, key.indexOf('\t')))
    return at < 0 ? precedence.length : at
  }
  for (const item of items) item.records.sort((a, b) => rank(a.key) - rank(b.key) || compare(a.key, b.key))
  return items
}

interface Stated {
  rules: FinishRules
  /** ordered by plainness, so that an item is named by the plainer spelling */
  all: readonly string[]
  /** whether the same card of a source states both: they are different finishes */
  areTogether: (slug: string, other: string) => boolean
}

function stated(members: readonly Member[], rules: FinishRules): Stated {
  const all = new Set<string>()
  for (const { card } of members) for (const { finish } of card.records) if (finish !== null) all.add(finish)
  const states = (card: SourceCard, slug: string) => card.records.some(({ finish }) => finish === slug)
  return {
    rules,
    all: all.size < 2 ? [...all] : [...all].sort(byPlainness(rules)),
    areTogether: (slug, other) => members.some(({ card }) => states(card, slug) && states(card, other)),
  }
}

/**
 * One key for all spellings of a finish. An edition stated without its foil is the same finish as the only edition with a foil that others state:
 * `first-edition` is `holo-first-edition` unless a source has both.
 */
function keyOf(slug: string, { all, areTogether, rules }: Stated, alias: ReadonlyMap<string, string>): string {
  const chosen = alias.get(slug) ?? slug
  const words = finishWords(chosen, rules)
  const key = finishKey(chosen, rules)
  if (words.length === 0 || isFoil(words[0], rules)) return key
  const foiled = new Set<string>()
  for (const other of all) {
    const [foil, ...rest] = finishWords(other, rules)
    if (isFoil(foil, rules) && finishKey(rest.join('-'), rules) === key && !areTogether(slug, other)) foiled.add(finishKey(other, rules))
  }
  return foiled.size === 1 ? [...foiled][0]! : key
}

/** Finishes that were manually declared the same, mapped to the plainest of them. */
function aliases(members: readonly Member[], verdicts: Verdicts, rules: FinishRules): Map<string, string> {
  const alias = new Map<string, string>()
  if (verdicts.sameFinish.length === 0) return alias
  const finishes = new Map(members.flatMap(({ card }) => card.records.map(({ key, finish }) => [key, finish] as const)))
  const root = (slug: string): string => (alias.has(slug) ? root(alias.get(slug)!) : slug)
  for (const [a, b] of verdicts.sameFinish) {
    const [one, other] = [finishes.get(a), finishes.get(b)]
    if (one == null || other == null) continue
    const [plain, special] = [root(one), root(other)].sort(byPlainness(rules))
    if (plain !== special) alias.set(special!, plain!)
  }
  return new Map([...alias.keys()].map((slug) => [slug, root(slug)]))
}
