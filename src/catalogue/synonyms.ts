// Search synonyms: the built-in ones (`synonyms.json`) and those of the operator.
import { readFileSync } from 'node:fs'
import type { Queryable } from '#db/schema.ts'
import { fold } from '#index/fold.ts'

/** A word, or a phrase of up to three, and one of the things that it may mean. */
export interface Synonym {
  word: string
  means: string
}

/** Those of the program. */
export const SHIPPED_SYNONYMS = JSON.parse(readFileSync(new URL('synonyms.json', import.meta.url), 'utf8')) as readonly Synonym[]

/** The operator's, in the order of their words. */
export function loadSynonyms(db: Queryable): Promise<Synonym[]> {
  return db.selectFrom('synonyms').select(['word', 'means']).orderBy('word').orderBy('means').execute()
}

export class Synonyms {
  #meanings = meaningsOf([])

  /** Replaces the operator's. */
  replace(own: readonly Synonym[]): void {
    this.#meanings = meaningsOf(own)
  }

  /** What a folded word or phrase may mean, folded; undefined for nothing but itself. */
  of(phrase: string): readonly string[] | undefined {
    return this.#meanings.get(phrase)
  }
}

function meaningsOf(own: readonly Synonym[]): Map<string, string[]> {
  const meanings = new Map<string, string[]>()
  for (const synonym of [...own, ...SHIPPED_SYNONYMS]) {
    const word = fold(synonym.word)
    const means = fold(synonym.means)
    const known = meanings.get(word)
    if (!known) meanings.set(word, [means])
    else if (!known.includes(means)) known.push(means)
  }
  return meanings
}
