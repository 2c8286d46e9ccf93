// The names that other programs and people give the columns that describe a card and its copies, in English, German, Turkish and French.
import { fold } from '#index/fold.ts'
import { columnName } from './column-name.ts'

/** By what the column holds; case, accents and punctuation do not count. */
export const CARD_COLUMN_NAMES = {
  cardmarket_id: ['idProduct', 'mkm_id'],
  name: [
    'Card name',
    'Card',
    'English name',
    'name_en',
    'Product name',
    'Kartenname',
    'Karte',
    'Englischer Name',
    'Kart adı',
    'Kart',
    'Ürün adı',
    'Nom',
    'Nom de la carte',
    'Nom anglais',
  ],
  local_name: ['Local name', 'Lokaler Name', 'Yerel ad', 'Nom local'],
  number: [
    'No',
    'Nr',
    'Card number',
    'Collector number',
    'Nummer',
    'Kartennummer',
    'Sammlernummer',
    'Numara',
    'Kart no',
    'Kart numarası',
    'Numéro',
    'Numéro de carte',
  ],
  set: [
    'Set name',
    'Exp. name',
    'Expansion',
    'Expansion name',
    'Edition',
    'Edition name',
    'Erweiterung',
    'Seri',
    'Set adı',
    'Genişleme',
    'Extension',
  ],
  set_code: ['Set code', 'Exp.', 'Expansion code', 'Edition code', 'Erw.', 'Setkürzel', 'Set kodu', 'Code extension'],
  finish: ['Printing', 'Variance', 'Variant', 'Variante', 'Ausführung', 'Baskı', 'Varyant'],
  foil: ['Foil', 'Foil?', 'is_foil', 'mtg_foil', 'Folie'],
  reverse: ['Reverse', 'Reverse holo', 'Reverse holo?', 'isReverseHolo', 'pokemon_reverse'],
  first_edition: ['First edition', 'First edition?', 'First ed?', 'isFirstEd', '1st edition', 'Erstauflage', 'İlk baskı', 'Première édition'],
  signed: ['Signed', 'Signed?', 'isSigned', 'Signiert', 'Signiert?', 'İmzalı', 'Signé', 'Signé?'],
  altered: ['Altered', 'Altered?', 'isAltered', 'Altered art', 'Alter', 'Altéré', 'Altéré?'],
  game: ['Spiel', 'Oyun', 'Jeu'],
  condition: ['Card condition', 'Zustand', 'Durum', 'Kart durumu', 'Kondisyon', 'État'],
  language: ['Lang', 'idLanguage', 'Sprache', 'Dil', 'Kart dili', 'Langue'],
  quantity: ['Qty', 'groupCount', 'Amount', 'Count', 'Stock', 'Anzahl', 'Menge', 'Bestand', 'Adet', 'Miktar', 'Stok', 'Quantité'],
  currency: ['Currency code', 'price_currency', 'Währung', 'Para birimi', 'Devise'],
} as const

/** The spelling in which names of columns are compared; a name of symbols only, such as `#`, is its own. */
export function spellingOf(name: string): string {
  const folded = fold(columnName(name))
  return folded.replace(/[^\p{L}\p{N}]/gu, '') || folded
}

/** What a column with one of these names holds. */
export function fieldsByName<Field extends string>(names: Partial<Record<Field, readonly string[]>>): (name: string) => Field | undefined {
  const entries = Object.entries(names) as [Field, readonly string[]][]
  const byName = new Map(entries.flatMap(([field, spellings]) => spellings.map((name) => [spellingOf(name), field])))
  return (name) => byName.get(spellingOf(name))
}
