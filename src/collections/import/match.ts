// Finds the item that a row of a collection file means. One that could be two is never guessed: the best are proposed.
import type { ItemLookup } from '#catalogue/item-lookup.ts'
import type { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import { sameCode } from '#index/codes.ts'
import { fold, words } from '#index/fold.ts'
import type { ItemDescription } from './entries.ts'
import { type Reason, reason } from '#core/problems.ts'

/** An item that a row may mean. */
export interface Candidate {
  item_id: number
  name: string
  code: string | null
  set: string
  market: string
  finish: string | null
}

export type Match = { itemId: number } | { why: Reason; candidates: Candidate[] }

/** No bracket within, so that a row of open ones is not read again from each of them. */
const PARENTHESES = /\(([^()]*)\)/g
const BRACKETS = /\[[^[\]]*\]/g

const MOST_CANDIDATES = 5
/** No item has a longer name, number, set or printing. */
const LONGEST = 500
/** Hits of a search that are looked at. */
const LOOKED_AT = 100

interface Judged {
  row: number
  number: boolean
  name: boolean
  set: boolean
  /** of the printing: the same, alike or another */
  finish: typeof SAME | typeof ALIKE | 0
}

const SAME = 2
const ALIKE = 1

/** @param lookup with the keys of the description loaded */
export function matchItem(catalogue: Catalogue, lookup: ItemLookup, item: ItemDescription): Match {
  for (const key of item.keys) {
    const found = lookup.find(key)
    if ('itemId' in found && !('ambiguous' in found)) return { itemId: found.itemId }
  }
  if ([item.name, item.number, item.set, item.finish].some((text) => text !== null && text.length > LONGEST)) {
    return { why: reason('like_none'), candidates: [] }
  }
  const wanted = described(item)
  const judged = rowsFor(catalogue, item, wanted.name).map((row) => judge(catalogue, item, wanted, row))
  const fitting = judged.filter((one) => one.number && one.name && one.set && one.finish > 0)
  const same = fitting.filter((one) => one.finish === SAME)
  const exact = same.length > 0 ? same : fitting
  const only = onlyOfFirstMarket(catalogue, exact)
  if (only !== null) return { itemId: catalogue.items.id[only]! }
  const weight = (one: Judged) => Number(one.number) * 4 + Number(one.name) * 3 + Number(one.set) * 2 + one.finish / 2
  const best = (exact.length > 0 ? exact : judged)
    .map((one, rank) => ({ row: one.row, weight: weight(one), rank }))
    .sort((a, b) => b.weight - a.weight || a.rank - b.rank)
    .slice(0, MOST_CANDIDATES)
  const rule =
    exact.length > 0
      ? 'fits_several'
      : best.length > 0
        ? 'fits_none'
        : 'like_none'
  return { why: reason(rule), candidates: best.map(({ row }) => candidateOf(catalogue, row)) }
}

export function candidateOf({ items, categories }: Catalogue, row: number): Candidate {
  return {
    item_id: items.id[row]!,
    name: items.nameOf(row),
    code: items.codeOf(row),
    set: categories.get(items.categoryId[row]!)?.name ?? '',
    market: items.marketOf(row),
    finish: finishAttribute(items.texts.get(row).attributes),
  }
}

interface Described {
  name: string
  /** words in parentheses behind the name, such as `Alternate Art` */
  variants: string[]
  set: string
  /** the set without what stands in parentheses behind it */
  bareSet: string
  /** words of these parentheses: a printing must be one of them */
  setVariants: string[]
  finish: ReadonlySet<string> | null
}

function described({ name, number, set, finish }: ItemDescription): Described {
  const variants: string[] = []
  const bare = name.replace(PARENTHESES, (_all, inner: string) => {
    if (!/^#?\d+$/.test(inner.trim())) variants.push(...printingWords(inner))
    return ' '
  })
  return {
    name: plain(withoutNumber(bare.trimEnd(), number)),
    variants,
    set: plainSet(set ?? ''),
    bareSet: plainSet((set ?? '').replace(PARENTHESES, ' ')),
    setVariants: [...(set ?? '').matchAll(PARENTHESES)].flatMap((inner) => printingWords(inner[1]!)),
    finish: finish === null ? null : new Set(printingWords(finish)),
  }
}

/** `Charizard ex - 199/165` repeats the number. */
function withoutNumber(name: string, number: string | null): string {
  const dash = name.lastIndexOf(' - ')
  const end = name.slice(dash + 3)
  const repeats = dash >= 0 && /^[\w-]+(?:\/[\w-]+)?$/.test(end) && /^[^/]*\d/.test(end) && (number === null || sameCode(end, number))
  return repeats ? name.slice(0, dash) : name
}

function rowsFor({ queries }: Catalogue, { number, game }: ItemDescription, name: string): number[] {
  const filter = { game: game ?? undefined }
  const rows = new Set<number>()
  const bare = number?.replace(/\/.*/, '') ?? null
  for (const q of [bare === null ? '' : `${name} ${bare}`, name, number ?? '']) {
    if (q.trim() === '' || rows.size >= MOST_CANDIDATES) continue
    for (const row of queries.search(q, filter, 0, LOOKED_AT).rows) rows.add(row)
  }
  return [...rows]
}

function judge({ items, categories }: Catalogue, item: ItemDescription, wanted: Described, row: number): Judged {
  const code = items.codeOf(row)
  const own = described({ ...item, name: items.nameOf(row), number: code, set: null, finish: null })
  const stated = finishAttribute(items.texts.get(row).attributes)
  const printing = [...own.variants, ...(stated === null ? [] : printingWords(stated))]
  const set = plainSet(categories.get(items.categoryId[row]!)?.name ?? '')
  const sameSet = wanted.set === '' || wanted.set === set
  const setVariants = sameSet ? [] : wanted.setVariants
  return {
    row,
    number: item.number === null ? code === null : code !== null && sameCode(item.number, code),
    name: wanted.name === own.name,
    set: sameSet || wanted.bareSet === set,
    finish: finishFits({ ...wanted, setVariants }, new Set(printing), stated === null),
  }
}

/**
 * Printings are the same when their words are. What a catalogue does not state is nothing special; and of printings that
 * are special, sources differ in whether they also call them holo and number them.
 */
function finishFits(
  { finish, variants, setVariants }: Described,
  printing: ReadonlySet<string>,
  unstated: boolean,
): Judged['finish'] {
  const wanted = new Set([...(finish ?? []), ...variants])
  if (setVariants.length > 0 && !setVariants.some((word) => wanted.has(word))) return 0
  const same = wanted.size === printing.size && [...wanted].every((word) => printing.has(word))
  if (same && unstated === (finish === null)) return SAME
  const special = [...wanted].filter((word) => word !== HOLO)
  const others = [...printing].filter((word) => word !== HOLO && !/^\d+$/.test(word))
  if (special.length !== others.length || !special.every((word) => printing.has(word))) return 0
  return special.length > 0 || unstated || finish === null ? ALIKE : 0
}

const HOLO = 'holo'

/** The words that tell printings apart, in one spelling: `Reverse Holofoil` and `Reverse` are the same, so are foil and holo. */
function printingWords(text: string): string[] {
  const found = words(fold(text)).map((word) =>
    word === 'holofoil' || word === 'foil' ? HOLO : word === 'first' ? '1st' : word,
  )
  const plainOnes = new Set(['normal', 'unlimited', 'non', ...(found.includes('reverse') ? [HOLO] : [])])
  return [...new Set(found.filter((word) => !plainOnes.has(word)))]
}

function plain(text: string): string {
  return words(fold(text)).join(' ')
}

/** A set's name without codes in brackets. */
function plainSet(set: string): string {
  return plain(set.replace(BRACKETS, ' '))
}

function finishAttribute(attributes: string): string | null {
  if (!attributes.includes('Finish')) return null
  const list = JSON.parse(attributes) as { name: string; value: string }[]
  return list.find(({ name }) => name === 'Finish')?.value ?? null
}

/** The same card may be in the catalogues of several markets: the first market's, when it has just one that fits. */
function onlyOfFirstMarket({ items }: Catalogue, exact: Judged[]): number | null {
  const first = Math.min(...exact.map((one) => items.market[one.row]!))
  const rows = exact.filter((one) => items.market[one.row] === first)
  return rows.length === 1 ? rows[0]!.row : null
}
