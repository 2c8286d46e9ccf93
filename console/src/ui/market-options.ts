// The markets as choices of a form or a filter.
import { marketCodeValues as MARKETS } from '../api-types.ts'
import { term } from '../words.ts'

export const marketOptions = () => MARKETS.map((code) => ({ value: code, text: term('market', code) }))
