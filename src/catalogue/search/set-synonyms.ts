// Replaces the operator's search synonyms on all nodes.
import { sql } from 'kysely'
import { invalidFields } from '#core/errors.ts'
import { name } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { problem } from '#core/problems.ts'
import { verb } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/changes/change.ts'
import { fold, words } from '#index/fold.ts'
import { MAX_PHRASE_WORDS } from '#index/query.ts'
import { closed } from '../records/fields.ts'
import { loadSynonyms, type Synonym } from '../index/synonyms.ts'

const MAX_SYNONYMS = 1_000
const MAX_MEANINGS = 12

export const SynonymSchema = Type.Object(
  {
    word: name(`Search phrase: up to ${MAX_PHRASE_WORDS} words`),
    means: name('Equivalent words from names, sets, finishes, rarities or languages'),
  },
  { ...closed, title: 'Synonym', examples: [{ word: 'etb', means: 'elite trainer box' }] },
)

export const setSynonyms = verb(
  {
    name: 'setSynonyms',
    needs: 'catalogue',
    input: Type.Object({ synonyms: Type.Array(SynonymSchema, { maxItems: MAX_SYNONYMS }) }),
  },
  (ctx: WriteCtx, { synonyms: newSynonyms }): Promise<Synonym[]> => {
    const problems = newSynonyms.flatMap((row, i) => problemsOf(row).map((each) => ({ ...each, field: `synonyms.${i}.${each.field}` })))
    if (problems.length > 0) throw invalidFields(problems)
    const rows = [...new Map(newSynonyms.map(({ word, means }) => [`${fold(word)}\t${fold(means)}`, { word, means }])).values()]
    return change(ctx, async (tx, note) => {
      // Serialises concurrent replacements.
      await sql`lock table synonyms in share row exclusive mode`.execute(tx)
      const before = await loadSynonyms(tx)
      await tx.deleteFrom('synonyms').execute()
      if (rows.length > 0) await tx.insertInto('synonyms').values(rows).execute()
      const after = await loadSynonyms(tx)
      if (JSON.stringify(before) === JSON.stringify(after)) return after
      // Nodes reload the whole list; the number only marks the change.
      note.changed('synonyms', [rows.length])
      note.audit({ action: 'synonyms.set', subject: 'catalogue', id: 'synonyms', before: { synonyms: before }, after: { synonyms: after } })
      return after
    })
  },
)

function problemsOf({ word, means }: Static<typeof SynonymSchema>) {
  const typed = fold(word).split(' ')
  const meant = words(fold(means)).length
  if (words(fold(word)).length === 0) return [problem('word', 'words', { min: 1, max: MAX_PHRASE_WORDS })]
  if (typed.length > MAX_PHRASE_WORDS) return [problem('word', 'words', { min: 1, max: MAX_PHRASE_WORDS })]
  if (meant === 0 || meant > MAX_MEANINGS) return [problem('means', 'words', { min: 1, max: MAX_MEANINGS })]
  if (fold(word) === fold(means)) return [problem('means', 'other_than', { field: 'word' })]
  return []
}
