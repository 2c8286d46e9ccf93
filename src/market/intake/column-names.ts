// The names that other programs and people give the columns of listings, in English, German, Turkish and French.
import { FeedError } from '#core/files/feed.ts'
import { reason } from '#core/problems.ts'
import { fold } from '#index/fold.ts'
import { truncate } from '#prices/sources/cells.ts'

/**
 * By what the column holds: one of our columns, or one that `ownCells` translates to ours. Case, accents and punctuation do not count.
 * `Purchase price` is a cost, so it is not listed. Neither is `TCGplayer Id`: in TCGplayer's own file, it is not a product id.
 */
const COLUMN_NAMES = {
  sku: ['Seller SKU', 'Artikelnummer', 'Stok kodu', 'Ürün kodu'],
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
  finish: ['Printing', 'Variant', 'Variante', 'Ausführung', 'Baskı', 'Varyant'],
  foil: ['Foil', 'Foil?', 'is_foil', 'mtg_foil', 'Folie'],
  reverse: ['Reverse', 'Reverse holo', 'Reverse holo?', 'pokemon_reverse'],
  first_edition: ['First edition', 'First edition?', 'First ed?', '1st edition', 'Erstauflage', 'İlk baskı', 'Première édition'],
  signed: ['Signed', 'Signed?', 'Signiert', 'Signiert?', 'İmzalı', 'Signé', 'Signé?'],
  altered: ['Altered', 'Altered?', 'Altered art', 'Alter', 'Altéré', 'Altéré?'],
  playset: ['Playset', 'Playset?', 'bundle'],
  graded: ['graded'],
  game: ['Spiel', 'Oyun', 'Jeu'],
  condition: ['Card condition', 'Zustand', 'Durum', 'Kart durumu', 'Kondisyon', 'État'],
  language: ['Lang', 'Sprache', 'Dil', 'Kart dili', 'Langue'],
  quantity: ['Qty', 'Amount', 'Count', 'Stock', 'Anzahl', 'Menge', 'Bestand', 'Adet', 'Miktar', 'Stok', 'Quantité'],
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
} as const satisfies Record<string, readonly string[]>

/** The ids of a row in the files of two shops, which serve as its SKU. */
export const SHOP_IDS = { cardmarket: 'idarticle', cardtrader: 'id' } as const

const byName = new Map(Object.entries(COLUMN_NAMES).flatMap(([column, names]) => names.map((name) => [spellingOf(name), column])))

/** The spelling in which names of columns are compared. */
export function spellingOf(name: string): string {
  return fold(name).replace(/[^\p{L}\p{N}]/gu, '')
}

/**
 * What the columns of a header hold → as written. A column with one of our names comes before others.
 * @throws FeedError if two columns could be the same
 */
export function columnsOf(header: readonly string[], ourNames: readonly string[]): Map<string, string> {
  const columns = new Map<string, string>()
  for (const name of header) {
    const own = name.trim().toLowerCase()
    if (ourNames.includes(own) && !columns.has(own)) columns.set(own, name)
  }
  const others = new Map<string, string[]>()
  for (const name of header) {
    const column = byName.get(spellingOf(name))
    // A second column of the same spelling is ignored, as a second one of our names is.
    if (column === undefined || columns.has(column)) continue
    const names = others.get(column) ?? []
    if (!names.some((other) => spellingOf(other) === spellingOf(name))) others.set(column, [...names, name])
  }
  for (const [column, names] of others) {
    if (names.length > 1) throw new FeedError(reason('columns_unclear', { column, values: names.map(truncate) }))
    columns.set(column, names[0]!)
  }
  return columns
}
