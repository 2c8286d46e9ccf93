// The names that other programs and people give the columns of listings, in English, German, Turkish and French.
import { fold } from '#index/fold.ts'
import { columnName } from '#intake/column-name.ts'
import type { ListingField } from './listing-columns.ts'

/**
 * By what the column holds: one of our columns, or one that `ownCells` translates to ours. Case, accents and punctuation do not count.
 * `Purchase price` is a cost, so it is not listed. Neither is `TCGplayer Id`: in TCGplayer's own file, it is not a product id.
 */
const COLUMN_NAMES = {
  sku: ['Seller SKU', 'Custom label', 'Custom label (SKU)', 'Artikelnummer', 'Stok kodu', 'Ürün kodu'],
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
  playset: ['Playset', 'Playset?', 'isPlayset', 'bundle'],
  graded: ['graded'],
  game: ['Spiel', 'Oyun', 'Jeu'],
  condition: ['Card condition', 'Zustand', 'Durum', 'Kart durumu', 'Kondisyon', 'État'],
  language: ['Lang', 'idLanguage', 'Sprache', 'Dil', 'Kart dili', 'Langue'],
  quantity: ['Qty', 'groupCount', 'Amount', 'Count', 'Stock', 'Anzahl', 'Menge', 'Bestand', 'Adet', 'Miktar', 'Stok', 'Quantité'],
  price: [
    'Selling price',
    'My price',
    'Unit price',
    'Listing price',
    'Preis',
    'Verkaufspreis',
    'Stückpreis',
    'Fiyat',
    'Satış fiyatı',
    'Birim fiyat',
    'Birim fiyatı',
    'Prix',
    'Prix de vente',
  ],
  price_cents: ['price_cents'],
  currency: ['Currency code', 'price_currency', 'Währung', 'Para birimi', 'Devise'],
  title: ['Titel', 'Başlık', 'Titre'],
  description: ['Comment', 'Comments', 'Kommentar', 'Kommentare', 'Bemerkung', 'Beschreibung', 'Açıklama', 'Yorum', 'Commentaire', 'Commentaires'],
  images: ['Bilder', 'Görsel', 'Görseller', 'Resimler'],
} as const satisfies Partial<Record<ListingField, readonly string[]>>

/** The ids of a row in the files of two shops, which serve as its SKU. */
export const SHOP_IDS = { cardmarket: 'idarticle', cardtrader: 'id' } as const

const byName = new Map(
  Object.entries(COLUMN_NAMES).flatMap(([field, names]) => names.map((name) => [spellingOf(name), field as keyof typeof COLUMN_NAMES])),
)

/** The spelling in which names of columns are compared; a name of symbols only, such as `#`, is its own. */
export function spellingOf(name: string): string {
  const folded = fold(columnName(name))
  return folded.replace(/[^\p{L}\p{N}]/gu, '') || folded
}

/** What a column with one of the names above holds. */
export function fieldNamed(name: string): ListingField | undefined {
  return byName.get(spellingOf(name))
}
