// Amounts: integer kuruş for sums and comparisons, text for pages.

/** @param currency ISO 4217 code */
export const money = (amount: number, currency: string): string => new Intl.NumberFormat('en', { style: 'currency', currency }).format(amount)

export const kurusOf = (price: number): number => Math.round(price * 100)

/** Listing prices are in TL. */
export const lira = (kurus: number): string => money(kurus / 100, 'TRY')
