// The names that other programs and people give the columns of listings, in English, German, Turkish and French.
import { CARD_COLUMN_NAMES, fieldsByName } from '#intake/column-names.ts'
import type { ListingField } from './listing-columns.ts'

/**
 * By what the column holds: one of our columns, or one that `ownCells` translates to ours.
 * `Purchase price` is a cost, so it is not listed. Neither is `TCGplayer Id`: in TCGplayer's own file, it is not a product id.
 */
const COLUMN_NAMES = {
  ...CARD_COLUMN_NAMES,
  sku: ['Seller SKU', 'Custom label', 'Custom label (SKU)', 'Artikelnummer', 'Stok kodu', 'Ürün kodu'],
  playset: ['Playset', 'Playset?', 'isPlayset', 'bundle'],
  graded: ['graded'],
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
  title: ['Titel', 'Başlık', 'Titre'],
  description: ['Comment', 'Comments', 'Kommentar', 'Kommentare', 'Bemerkung', 'Beschreibung', 'Açıklama', 'Yorum', 'Commentaire', 'Commentaires'],
  images: ['Bilder', 'Görsel', 'Görseller', 'Resimler'],
} as const satisfies Partial<Record<ListingField, readonly string[]>>

/** The ids of a row in the files of two shops, which serve as its SKU. */
export const SHOP_IDS = { cardmarket: 'idarticle', cardtrader: 'id' } as const

/** What a column with one of the names above holds. */
export const fieldNamed = fieldsByName<ListingField>(COLUMN_NAMES)
