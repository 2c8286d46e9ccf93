// What reports of imports say in English, in Turkish: why a row was refused, a price held, or a file could not be read.
import { turkishSentence } from './refusals-tr.ts'

const AT: readonly (readonly [string, string])[] = [
  ['card', 'kartta'],
  ['set', 'sette'],
  ['series', 'seride'],
  ['pack', 'pakette'],
  ['product', 'üründe'],
]

const SENTENCES: readonly (readonly [RegExp, string])[] = [
  ...AT.flatMap(([kind, at]) => [
    [new RegExp(`^the ${kind} has no (\\w+)$`), `${at} $1 yok`] as const,
    [new RegExp(`^the ${kind} (.+) has no (\\w+)$`), `$1 numaralı ${at} $2 yok`] as const,
  ]),
  [/^no item has the (\S+) id (.+)$/, '$1 numarası $2 olan ürün yok'],
  [/^several items fit (".*"): (.+)$/, '$1 için birden çok ürün uyuyor: $2'],
  [/^several items fit …$/, 'birden çok ürün uyuyor: …'],
  [/^no item that fits (".*") has the finish (".*")$/, '$1 için uyan ürünlerin $2 baskısı yok'],
  [/^no item that fits … has the finish …$/, '… için uyan ürünlerin … baskısı yok'],
  [/^the set of (".*") is not in the catalogue by that name$/, '$1: bu adda bir set katalogda yok'],
  [/^no item fits (".*") in name, number and set \(like it: (.+)\)$/, '$1 için ad, numara ve set olarak uyan ürün yok (benzerleri: $2)'],
  [/^no item fits … in name, number and set \(like it: …\)$/, '… için ad, numara ve set olarak uyan ürün yok (benzerleri: …)'],
  [/^no item is like (".*")$/, '$1 için benzer bir ürün yok'],
  [/^the row names no item$/, 'satır bir ürün belirtmiyor'],
  [/^the row names no set, and (".*") can be of several$/, 'satır set belirtmiyor ve $1 birden çok sette olabilir'],
  [/^there is no rate from (\S+) to (\S+) for (\S+): load one$/, '$3 için $1/$2 kuru yok: kur yükleyin'],
  [/^(".*") can be read in two ways: say which sign begins the decimals$/, '$1 iki türlü okunabilir: ondalık işaretini belirtin'],
  [/^(".*") is not in the encoding (\S+)$/, '$1, $2 kodlamasında değil'],
  [/^(".*") is not in (\S+)$/, '$1, $2 para biriminde değil'],
  [/^no row has a member (.+)$/, 'hiçbir satırda şu alan yok: $1'],
  [/^the header has no column (.+) \(it has (.+)\)$/, 'başlıkta $1 sütunu yok; olanlar: $2'],
  [/^the header has the column (".*") twice$/, 'başlıkta $1 sütunu iki kez var'],
  [/^other reasons$/, 'diğer nedenler'],
  [/^there is no item with the id (.+)$/, 'numarası $1 olan ürün yok'],
  [/^no item has the ref (.+)$/, 'refi $1 olan ürün yok'],
  [/^items of (.+) have the ref (.+): use the item's id$/, '$1 ürünlerinin refi $2: ürünün numarasını kullanın'],
  [/^no item of the (\S+) id (.+) has the finish (\S+)$/, '$1 numarası $2 olan ürünlerin $3 baskısı yok'],
  [/^the (\S+) id (.+) is on items (\d+) and (\d+)$/, '$1 numarası $2, $3 ve $4 numaralı ürünlerde'],
  [/^the item (.+) came before, in line (\d+|…)$/, '$1 ürünü daha önce geldi, satır $2'],
  [/^the category (.+) came before, in line (\d+|…)$/, '$1 kategorisi daha önce geldi, satır $2'],
  [/^the parent category (.+) is not in the catalogue: import it first$/, '$1 üst kategorisi katalogda yok: önce onu aktarın'],
  [/^the category (.+) is not in the catalogue: import it first$/, '$1 kategorisi katalogda yok: önce onu aktarın'],
  [/^the category (.+) cannot be its own parent$/, '$1 kategorisi kendi üstü olamaz'],
  [/^the group (.+) does not exist$/, '$1 grubu yok'],
  [/^the product (.+) is of no known category \((.+)\)$/, '$1 ürününün kategorisi bilinmiyor ($2)'],
  [/^a coin is neither a card nor a sealed product$/, 'madeni para ne karttır ne de kapalı ürün'],
  [/^the id (.+) names no set$/, '$1 numarası bir set göstermiyor'],
  [/^the pack (.*?) ?of the card (.+) is of no known language$/, '$2 kartının $1 paketinin dili bilinmiyor'],
  [/^the pack (.+) is of no known language$/, '$1 paketinin dili bilinmiyor'],
  [/^the entry is not a JSON object$/, 'kayıt bir JSON nesnesi değil'],
  [/^the entry is no JSON object$/, 'kayıt bir JSON nesnesi değil'],
  [/^the row has (\d+|…) cells, the header (\d+|…)$/, 'satırda $1, başlıkta $2 hücre var'],
  [/^the line is no JSON object$/, 'satır bir JSON nesnesi değil'],
  [/^the line is no valid JSON$/, 'satır geçerli JSON değil'],
  [/^the row is not (.+)$/, 'satır beklenen türde değil ($1)'],
  [/^the row has neither an id nor a tcg-id$/, 'satırda ne id ne de tcg-id var'],
  [/^the row has no link to a card$/, 'satırda karta giden bağlantı yok'],
  [/^the link names set (.+), the row set (.+)$/, 'bağlantı $1 setini, satır $2 setini gösteriyor'],
  [/^a product id is missing$/, 'ürün numarası eksik'],
  [/^(\S+) is missing$/, '$1 eksik'],
  [/^(.+) or (\S+) is missing$/, '$1 ya da $2 eksik'],
  [/^(".*") is no productId$/, '$1 bir productId değil'],
  [/^(".*") is none of (.+)$/, '$1 şunlardan biri değil: $2'],
  [/^(".*") is neither a condition nor a grader with a grade$/, '$1 ne bir durum ne de dereceli bir not'],
  [/^(".*") is no plain printing$/, '$1 düz bir baskı değil'],
  [/^(".*") is no known printing$/, '$1 bilinen bir baskı değil'],
  [/^(".*") is no condition with a label$/, '$1 bilinen bir durum değil'],
  [/^(".*") is no amount up to (\S+)$/, '$1, en çok $2 olan bir tutar değil'],
  [/^(".*") is no decimal number up to (\S+) with at most two decimals$/, '$1, en çok $2 olan, en çok iki ondalıklı bir sayı değil'],
  [/^(".*") is no date$/, '$1 bir tarih değil'],
  [/^must be a date from (\S+) to (\S+)$/, '$1 ile $2 arasında bir tarih olmalı'],
  [/^(".*") is no time with a zone$/, '$1 saat dilimiyle yazılmış bir zaman değil'],
  [/^(".*") is no id$/, '$1 bir numara değil'],
  [/^price must be above 0$/, "fiyat 0'dan büyük olmalı"],
  [/^the price has no date$/, 'fiyatın tarihi yok'],
  [/^no price is from before 1996$/, "1996'dan önceye ait fiyat olmaz"],
  [/^no BRL rate for that day$/, 'o günün BRL kuru yok'],
  [/^(\S+) after (\S+)$/, "önceki fiyat $2 iken $1"],
  [/^(\S+) while the other sources say (.+)$/, 'diğer kaynaklarda $2 iken $1'],
  [/^a PSA 10 at (\S+) while Near Mint is at (\S+)$/, 'Near Mint $2 iken PSA 10 $1'],
  [/^dated (\S+), more than (\S+) hours ahead$/, '$1 tarihli, $2 saatten daha ileride'],
  [/^the file is empty$/, 'dosya boş'],
  [/^the file is not UTF-8 text$/, 'dosya UTF-8 metin değil'],
  [/^the file is no valid JSON document$/, 'dosya geçerli bir JSON belgesi değil'],
  [/^the file is no JSON object with a list "(.+)"$/, 'dosya "$1" listesi olan bir JSON nesnesi değil'],
  [/^an entry of the JSON document is larger than (.+)$/, 'JSON belgesinin bir kaydı $1 sınırını aşıyor'],
  [/^the JSON document is nested deeper than (\d+) levels$/, 'JSON belgesi $1 düzeyden daha derin iç içe geçiyor'],
  [/^(\S+) must come before priceGuides$/, "$1, priceGuides'tan önce gelmeli"],
  [/^the gzip data is damaged or cut off$/, 'gzip verisi bozuk ya da yarım'],
  [/^the header has more than (\d+) columns$/, 'başlıkta $1 sütundan fazlası var'],
  [/^the file has more than (\d+) items: split it$/, 'dosyada $1 üründen fazlası var: dosyayı bölün'],
  [/^the file has more than (\d+) categories: split it$/, 'dosyada $1 kategoriden fazlası var: dosyayı bölün'],
  [/^there would be more than (\d+) grades$/, '$1 nottan fazlası olurdu'],
  [/^the import needed more than (\d+) MB of memory; nothing was written: split the file$/, 'içe aktarma $1 MB bellekten fazlasını gerektirdi; hiçbir şey yazılmadı: dosyayı bölün'],
  [/^the item has an? (.+) of more than (\d+) characters$/, 'üründe $2 karakterden uzun bir alan var ($1)'],
  [/^the category has a (.+) of more than (\d+) characters$/, 'kategoride $2 karakterden uzun bir alan var ($1)'],
  [/^the card (.+) has more than (\d+) printings$/, '$1 numaralı kartın $2 baskıdan fazlası var'],
  [/^the header has no column (.+)$/, 'başlıkta şu sütun yok: $1'],
  [/^the gzip data unpacks to more than (\d+) times its size: this is no feed$/, 'gzip verisi boyutunun $1 katını aşıyor: bu bir veri dosyası değil'],
  [/^this is no (.+)$/, 'dosya beklenen türde değil ($1)'],
  [/^the import was stopped by an error of the service; it is in the log$/, 'içe aktarma hizmetteki bir hatayla durdu; kayda geçti'],
  [/^the service (?:stopped while the import was under way|was stopped); nothing was written: send it again$/, 'hizmet durduruldu; hiçbir şey yazılmadı: dosyayı yeniden gönderin'],
  [/^line (\d+) is longer than 1 MB: this is not (\S+)$/, '$1. satır 1 MB sınırını aşıyor: bu $2 değil'],
  [/^the CSV cannot be read: (.+)$/, 'CSV okunamıyor: $1'],
  [/^none of the first (\d+) rows is (.+)$/, 'ilk $1 satırın hiçbiri beklenen türde değil ($2)'],
]

/** A sentence of a report in Turkish, as it is where it is not known. */
export function turkishReport(sentence: string): string {
  const parts = sentence.split('; ')
  return parts.map((part) => turkishPart(part) ?? part).join('; ')
}

function turkishPart(sentence: string): string | null {
  const known = SENTENCES.find(([pattern]) => pattern.test(sentence))
  if (known) return sentence.replace(known[0], known[1])
  // `price: "x" is no amount`, `prices.0.label must be ...`: what stands before is a column or field.
  const [, field, rest] = /^([\w.…-]+(?: [\w.…-]+)*?):? ((?:must|may|is required|price|no|the|there|a)\b.*|".*)$/.exec(sentence) ?? []
  if (field === undefined || rest === undefined) return null
  const told = turkishPart(rest) ?? turkishSentence(rest)
  return told && `${field}: ${told}`
}
