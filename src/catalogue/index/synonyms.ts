// Search synonyms: those of the games and those of the operator.
import type { Queryable } from '#db/schema.ts'
import { GAMES } from '#games/games.ts'
import { fold } from '#index/fold.ts'

/** A word, or a phrase of up to three words, and one of its meanings. */
export interface Synonym {
  word: string
  means: string
}

/** The operator's synonyms, ordered by word. */
export function loadSynonyms(db: Queryable): Promise<Synonym[]> {
  return db.selectFrom('synonyms').select(['word', 'means']).orderBy('word').orderBy('means').execute()
}

export class Synonyms {
  #meanings = meaningsOf([])

  /** Replaces the operator's synonyms. */
  replace(own: readonly Synonym[]): void {
    this.#meanings = meaningsOf(own)
  }

  /** The folded meanings of a folded word or phrase; undefined if it has no synonyms. */
  of(phrase: string): readonly string[] | undefined {
    return this.#meanings.get(phrase)
  }
}

function meaningsOf(own: readonly Synonym[]): Map<string, string[]> {
  const meanings = new Map<string, string[]>()
  for (const synonym of [...own, ...GAMES.synonyms]) {
    const word = fold(synonym.word)
    const means = fold(synonym.means)
    const others = meanings.get(word)
    if (!others) meanings.set(word, [means])
    else if (!others.includes(means)) others.push(means)
  }
  return meanings
}
