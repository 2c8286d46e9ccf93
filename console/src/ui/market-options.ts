// The markets as choices of a form or a filter.
import { MARKETS } from '../rows.ts'
import { term } from '../words.ts'

export const marketOptions = () => MARKETS.map((code) => ({ value: code, text: term('market', code) }))
