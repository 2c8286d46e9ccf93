// The four moneys in which gains are stated, and the choice of one of them.
import { money, t, termText } from '../words.ts'

export const MONEYS = ['TRY', 'USD', 'EUR', 'TRY_REAL'] as const
export type Money = (typeof MONEYS)[number]

/** An amount in one of the moneys. */
export function amountIn(amount: number | null, of: Money): string {
  return amount === null ? '–' : money(amount, of === 'TRY_REAL' ? 'TRY' : of)
}

export function MoneyChoice({ chosen, choose }: { chosen: Money; choose: (next: Money) => void }) {
  return (
    <fieldset class="choices">
      <legend class="hidden">{t('currency')}</legend>
      {MONEYS.map((one) => (
        <button key={one} type="button" aria-pressed={one === chosen} onClick={() => choose(one)}>
          {termText('money', one)}
        </button>
      ))}
    </fieldset>
  )
}
