// The notes of public sources in Turkish, by name of the source; the operator API states them in English.
export const TURKISH_SOURCE_NOTES: Readonly<Record<string, string>> = {
  tcgdex:
    'İngilizce setler ve kartlarının adları, numaraları, nadirlikleri ve görselleri. Diğer bilgiler yalnızca dosyalardadır: veritabanının dosyalarını içe aktarın ya da pokemontcg kaynağını da indirin.',
  'punk-records': 'İngilizce paketler ve kartlar.',
  scryfall: 'Varsayılan kartlar: her baskı, varsa İngilizce. Scryfall’un birleştirdiği kartlar birleştirilir.',
  mtgjson: 'Kartları, token’ları ve kapalı ürünleriyle setler.',
  'fab-cube': 'İngilizce setler ve kartlarının tüm baskıları, görseller olmadan.',
  ygoprodeck: 'Kaynak, görsellerini sürekli kendisinden yükleyen sayfaları yasaklar: IMAGE_PROXY=on ayarlayın.',
}
