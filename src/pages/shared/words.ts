// The words of the pages of shared collections, in English and Turkish.
import type { Language } from '#http/language.ts'

const EN = {
  notFound: 'No shared collection found',
  notFoundText: 'The link is wrong or was revoked.',
  worth: 'Worth',
  worthByDay: 'Worth by day',
  noWorth: 'No card has a trusted price.',
  noDays: 'No worth recorded yet',
  withoutValue: (count: string) => `${count} without a trusted price`,
  sets: 'Completion by set',
  ofCards: (owned: string, of: string) => `${owned} of ${of}`,
  cards: 'Cards',
  records: (count: string) => `${count} entries`,
  empty: 'The collection is empty.',
  pages: 'Pages',
  page: (page: string, last: string) => `Page ${page} of ${last}`,
  previous: 'Previous page',
  next: 'Next page',
  other: 'Türkçe',
}

export const WORDS: Readonly<Record<Language, typeof EN>> = {
  en: EN,
  tr: {
    notFound: 'Paylaşılan bir koleksiyon bulunamadı',
    notFoundText: 'Bağlantı yanlış ya da geri alınmış.',
    worth: 'Değer',
    worthByDay: 'Günlere göre değer',
    noWorth: 'Hiçbir kartın güvenilir fiyatı yok.',
    noDays: 'Henüz kaydedilmiş değer yok',
    withoutValue: (count) => `${count} kayıt güvenilir fiyatsız`,
    sets: 'Setlere göre tamamlanma',
    ofCards: (owned, of) => `${owned} / ${of}`,
    cards: 'Kartlar',
    records: (count) => `${count} kayıt`,
    empty: 'Koleksiyon boş.',
    pages: 'Sayfalar',
    page: (page, last) => `Sayfa ${page} / ${last}`,
    previous: 'Önceki sayfa',
    next: 'Sonraki sayfa',
    other: 'English',
  },
}

export function countIn(language: Language, value: number): string {
  return value.toLocaleString(language)
}

/** An amount in words of a language. Amounts beyond the range of numbers are shown as the nearest one. */
export function moneyIn(language: Language, amount: number, currency: string): string {
  const number = typeof amount === 'number' ? amount : Number(JSON.stringify(amount))
  return new Intl.NumberFormat(language, { style: 'currency', currency }).format(number)
}
