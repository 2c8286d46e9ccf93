// `node bench/search/suggest.ts [seconds]`: suggestions while names, codes and sets of the real catalogue are typed letter by letter.
import { sql } from 'kysely'
import type { BenchDatabase } from '../database.ts'
import { measureOnRealCatalogue } from './on-real-catalogue.ts'

const TYPED = 1_500
const MAX_PREFIX_LENGTH = 20

await measureOnRealCatalogue(
  [{ title: 'Suggestions', plan: 'starter', requests: keystrokes, perSecond: 500, goalMs: 10 }],
  Number(process.argv[2] ?? 20),
)

/** Every prefix of the typed text, in the order in which a text field requests them. */
async function keystrokes({ ctx }: BenchDatabase): Promise<string[]> {
  const { rows } = await sql<{ typed: string }>`
    select case n % 4 when 0 then name when 1 then name || ' ' || coalesce(split_part(code, '/', 1), '') when 2 then coalesce(code, name)
        else set || ' ' || name end as typed
    from (select i.name, i.code, c.name as set, row_number() over () as n
      from (select * from items order by md5(id::text) limit ${TYPED}) i join categories c on c.id = i.category_id) chosen`.execute(ctx.db.kysely)
  const texts = rows.flatMap(({ typed }) => Array.from({ length: Math.min(typed.length, MAX_PREFIX_LENGTH) }, (_, end) => typed.slice(0, end + 1)))
  // A text that ends with half a surrogate pair cannot be sent.
  return texts.filter((text) => text.isWellFormed()).map((text) => `/api/v1/items/suggest?q=${encodeURIComponent(text)}`)
}
