// Converts the reason why a record is pending to an English sentence; the console has its own texts in each language.
import type { Reason } from '#matching/matcher-types.ts'

export const REASON_RULES = [
  'loose',
  'several',
  'claimed-twice',
  'shop-id-shared',
  'shop-id-differs',
  'hp',
  'price-ratio',
  'set-unclear',
  'finish',
  'unknown',
] as const satisfies Reason['rule'][]

const SENTENCES: Record<Reason['rule'], (params: Record<string, string>) => string> = {
  loose: () => 'number or name match only partly',
  several: ({ count }) => `${count} cards match equally well`,
  'claimed-twice': ({ others, source }) =>
    source === undefined ? `${others} other records of the same source match the card` : `another record of ${source} has the same number and name`,
  'shop-id-shared': () => 'several cards have the same shop id',
  'shop-id-differs': ({ clusters }) =>
    clusters === undefined ? 'the shop id matches, but number or name differ' : `shop id and set point to ${clusters} different cards`,
  hp: ({ hp, other }) => `hit points differ: ${hp} and ${other}`,
  'price-ratio': ({ ratio, most }) => `prices differ by a factor of ${ratio}; at most ${most} is allowed`,
  'set-unclear': ({ set }) => `the set ${set} resembles several sets, or too few of its cards match`,
  finish: () => 'the card does not exist in this finish',
  unknown: () => 'no similar card was found',
}

/** The reason as a sentence. */
export function reasonText({ rule, params }: Reason): string {
  return SENTENCES[rule](Object.fromEntries(Object.entries(params).map(([name, value]) => [name, String(value)])))
}
