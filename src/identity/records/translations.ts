// Finds French One Piece cards that are the same printing as an English card, by their ids: names and the texts of the rules are translated.
import { itemsInUse } from '#catalogue/records/item-store.ts'
import type { Tx } from '#db/schema.ts'
import type { Decisions, MatchSet } from '#matching/matcher-types.ts'
import type { GameRecord } from './game-records.ts'

/** `punk-records:fr:OP13-118_p1`: language, set of the number, number in it and printing. */
const REF = /^punk-records:(en|fr):(([A-Z]+\d*)-\d+)(_\w+)?$/

interface Card {
  language: string
  /** of the set to which the number belongs, such as `OP13`; `P` for promos */
  numberSet: string
  /** empty for the regular one */
  printing: string
  /** equal for the same id in both languages */
  key: string
}

/**
 * The English record for each French one that is the same printing. The regular printing of a number is the same in both languages. The numbers of
 * parallels and reprints are counted in each language in order of release, so they agree only in the set of the card's own number.
 * A French item in use is merged only by a person's decision: its listings may not state a language. Decisions about a French record replace the rule.
 * @param sets by market and ref
 */
export async function translationsOf(
  tx: Tx,
  records: readonly GameRecord[],
  sets: ReadonlyMap<string, MatchSet>,
  { apart, same }: Pick<Decisions, 'apart' | 'same'>,
): Promise<Map<GameRecord, GameRecord>> {
  const english = new Map<string, GameRecord>()
  for (const record of records) {
    const card = cardOf(record)
    // An export of ours describes the card in place of the source that it comes from.
    if (card?.language === 'en' && (record.source === 'punk-records' || !english.has(card.key))) english.set(card.key, record)
  }
  if (english.size === 0) return new Map()
  const decided = new Set([...apart, ...same].flat())
  const pairs: [GameRecord, GameRecord][] = []
  for (const record of records) {
    const card = record.source === 'punk-records' && !decided.has(record.key) ? cardOf(record) : null
    const original = card?.language === 'fr' ? english.get(card.key) : undefined
    if (original && (card!.printing === '' || isOfSameSet(card!, record, original, sets))) pairs.push([record, original])
  }
  const emptied = ([record, original]: (typeof pairs)[number]) =>
    original.items.length === 0 ? [] : record.items.filter((item) => !original.items.includes(item))
  const used = await itemsInUse(tx, pairs.flatMap(emptied))
  return new Map([...pairs.filter((pair) => !emptied(pair).some((item) => used.has(item))), ...decidedPairs(records, same)])
}

/** French records that a person decided to be the same as an English one. */
function decidedPairs(records: readonly GameRecord[], same: Decisions['same']): [GameRecord, GameRecord][] {
  if (same.length === 0) return []
  const byKey = new Map(records.map((record) => [record.key, record]))
  return same.flatMap(([a, b]): [GameRecord, GameRecord][] => {
    const [one, other] = [byKey.get(a), byKey.get(b)]
    const languages = [one, other].map((record) => record && cardOf(record)?.language).join()
    return languages === 'fr,en' ? [[one!, other!]] : languages === 'en,fr' ? [[other!, one!]] : []
  })
}

function cardOf({ ref, market, source }: GameRecord): Card | null {
  const [, language, number, numberSet, printing = ''] = (source !== 'operator' && REF.exec(ref ?? '')) || []
  return language === undefined ? null : { language, numberSet: numberSet!, printing, key: `${market}\t${number}${printing}` }
}

/** Whether both are in the set of the card's number, and of the same rarity. */
function isOfSameSet({ numberSet }: Card, record: GameRecord, original: GameRecord, sets: ReadonlyMap<string, MatchSet>): boolean {
  const codes = ({ market, category }: GameRecord) => sets.get(`${market}\t${category}`)?.codes ?? []
  const common = codes(record).filter((code) => codes(original).includes(code))
  // A set such as `OP14-EB04` has the numbers of both.
  const isOwnSet = common.some((code) => code.replace('-', '').includes(numberSet))
  return isOwnSet && /\d$/.test(numberSet) && record.rarity === original.rarity
}
