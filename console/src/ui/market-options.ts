// The markets as options of a form or filter.
import { marketCodeValues as MARKETS } from '../api-values.ts'
import { termText } from '../words.ts'

export const marketOptions = () => MARKETS.map((code) => ({ value: code, text: termText('market', code) }))
