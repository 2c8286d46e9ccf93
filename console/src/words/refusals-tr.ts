// The service's refusals in Turkish: by their sentence where it is known, else by their code; the service speaks English.

/** What the service says of a field or a request, and the same in Turkish; `$1` is what the sentence names. */
const SENTENCES: [RegExp, string][] = [
  [/^must be a whole number from (\S+) to (\S+)$/, '$1 ile $2 arasında bir tam sayı olmalı'],
  [/^must be a whole number other than 0, from (\S+) to (\S+)$/, '0 dışında, $1 ile $2 arasında bir tam sayı olmalı'],
  [/^must be a whole number, at least (\S+)$/, 'en az $1 olan bir tam sayı olmalı'],
  [/^must be a whole number, at most (\S+)$/, 'en çok $1 olan bir tam sayı olmalı'],
  [/^names no column for price$/, 'fiyat için bir sütun içermeli'],
  [/^names no column that tells the item: (.+)$/, 'ürünü belirten bir sütun içermeli: $1'],
  [/^names two columns for (\S+?)(?:: (.+) and (.+))?$/, '$1 için iki sütun içeriyor'],
  [/^(\S+) is no field; there are (.+)$/, '$1 diye bir alan yok; olanlar: $2'],
  [/^(".*") must be a field and a column, such as (\S+)$/, '$1 bir alan ve bir sütun olmalı, örneğin $2'],
  [/^(\S+): names no column$/, '$1 için sütun yazılmamış'],
  [/^(\S+): (".*") has a brace without its end$/, '$1: $2 içinde kapanmayan bir ayraç var'],
  [/^(\S+): is longer than (\d+) characters$/, '$1, $2 karakterden uzun'],
  [/^names more than (\d+) fields$/, '$1 alandan fazlasını içeriyor'],
  [/^must be a path such as (\S+)$/, 'bir yol olmalı, örneğin $1'],
  [/^is required: the list does not say which market its prices are of$/, 'gerekli: fiyatların hangi kaynaktan olduğu belirtilmeli'],
  [/^must name columns, such as .+$/, 'sütunları belirtmeli ya da kayıtlı bir eşleme olmalı'],
  [/^must be three capital letters, such as (\S+)$/, 'üç büyük harf olmalı, örneğin $1'],
  [/^is for lists that are read by a mapping, and (\S+) is not$/, 'yalnız eşlemeyle okunan listeler içindir, $1 öyle değil'],
  [/^There is no saved mapping (.+)$/, '$1 adlı kayıtlı bir eşleme yok'],
  [/^must be a whole number$/, 'bir tam sayı olmalı'],
  [/^must be (?:a number|an amount) from (\S+) to (\S+),? with at most two decimals$/, '$1 ile $2 arasında, en çok iki ondalıklı bir tutar olmalı'],
  [/^must be a number from (\S+) to (\S+)$/, '$1 ile $2 arasında bir sayı olmalı'],
  [/^must be a number above 0, at most (\S+), with at most two decimals$/, "0'dan büyük, en çok $1, en çok iki ondalıklı bir sayı olmalı"],
  [/^must be a number$/, 'bir sayı olmalı'],
  [/^must have at most two decimals$/, 'en çok iki ondalıklı olmalı'],
  [/^must be true or false$/, 'doğru ya da yanlış olmalı'],
  [/^must be 1 or 0$/, '1 ya da 0 olmalı'],
  [/^must be one of (.+)$/, 'şunlardan biri olmalı: $1'],
  [/^must be text of (\d+) to (\d+) characters$/, '$1 ile $2 karakter arasında bir metin olmalı'],
  [/^must be text of (\d+) to (\d+) characters on one line, visible and without bidirectional controls$/, 'tek satırda, görünür, yazı yönünü değiştiren karakter içermeyen, $1 ile $2 karakter arasında bir metin olmalı'],
  [/^must be text of at most (\d+) characters on one line, visible and without bidirectional controls$/, 'tek satırda, görünür, yazı yönünü değiştiren karakter içermeyen, en çok $1 karakterlik bir metin olmalı'],
  [/^must be text of at most (\d+) characters on one line$/, 'tek satırda, en çok $1 karakterlik bir metin olmalı'],
  [/^must be text of at most (\d+) characters without bidirectional controls$/, 'yazı yönünü değiştiren karakter içermeyen, en çok $1 karakterlik bir metin olmalı'],
  [/^must be text of at most (\d+) characters$/, 'en çok $1 karakterlik bir metin olmalı'],
  [/^must be text of at least (\d+) characters$/, 'en az $1 karakterlik bir metin olmalı'],
  [/^must be text\b.*$/, 'bir metin olmalı'],
  [/^must be a list\b.*$/, 'bir liste olmalı'],
  [/^must be an object\b.*$/, 'bir nesne olmalı'],
  [/^must be lower-case words\b.*$/, 'küçük harfli, "-" ile bağlanan sözcükler olmalı'],
  [/^must be an http or https address\b.*$/, 'bir http ya da https adresi olmalı'],
  [/^must be a condition or grade\b.*$/, 'bir durum ya da derece olmalı, örneğin PSA 10'],
  [/^must be a time that exists, from (\S+) to (\S+)$/, '$1 ile $2 arasında, var olan bir zaman olmalı'],
  [/^must be above 0$/, "0'dan büyük olmalı"],
  [/^must be a date written YYYY-MM-DD, from (\S+) to (\S+)$/, 'YYYY-AA-GG biçiminde, $1 ile $2 arasında bir tarih olmalı'],
  [/^must be a time in ISO 8601 with offset, from (\S+) to (\S+), such as (\S+)$/, '$1 ile $2 arasında bir zaman olmalı, örneğin $3'],
  [/^must be a URL$/, 'bir internet adresi olmalı'],
  [/^must be a language such as .*$/, 'bir dil kodu olmalı, örneğin en, tr ya da ja'],
  [/^must be the id of an account$/, 'bir hesabın numarası olmalı'],
  [/^must be the id of an item$/, 'bir ürünün numarası olmalı'],
  [/^must be the id of a category$/, 'bir kategorinin numarası olmalı'],
  [/^must be the id of a listing; there is no (\d+)$/, 'bir ilanın numarası olmalı; $1 numaralı ilan yok'],
  [/^must be the id of a type below a group.*$/, 'bir grubun altındaki bir derecenin numarası olmalı'],
  [/^must be ids of groups: (.+)$/, 'grup numaraları olmalı: $1'],
  [/^must be a category of (\S+); this one is of (\S+)$/, '$1 kaynağından bir kategori olmalı; bu, $2 kaynağından'],
  [/^must be in the future$/, 'gelecekte olmalı'],
  [/^may not be in the future$/, 'gelecekte olamaz'],
  [/^may not be above (\S+)$/, '$1 değerini aşamaz'],
  [/^may not be the category itself or one below it$/, 'kategorinin kendisi ya da altındaki biri olamaz'],
  [/^may not have two images with the same order$/, 'aynı sırada iki resim içeremez'],
  [/^may not exceed the price$/, 'fiyatı aşamaz'],
  [/^must name at least one of (.+)$/, 'şunlardan en az birini içermeli: $1'],
  [/^must have at least one of (.+)$/, 'şunlardan en az birini içermeli: $1'],
  [/^would take the balance of (\S+) below 0$/, '$1 olan bakiyeyi 0 altına düşürür'],
  [/^would take the balance of (\S+) above (\S+)$/, '$1 olan bakiyeyi $2 üstüne çıkarır'],
  [/^Account not found: there is none with the id (\S+)$/, '$1 numaralı hesap yok'],
  [/^Item not found: there is none with the id (\S+)$/, '$1 numaralı ürün yok'],
  [/^Listing not found: there is none with the id (\S+)$/, '$1 numaralı ilan yok'],
  [/^Category not found: there is none with the id (\S+)$/, '$1 numaralı kategori yok'],
  [/^Collection not found: there is none with the id (\S+)$/, '$1 numaralı koleksiyon yok'],
  [/^Import not found: there is none with the id (\S+)$/, '$1 numaralı içe aktarma yok'],
  [/^Order not found: there is none with the id (\S+)$/, '$1 numaralı sipariş yok'],
  [/^Key not found: there is none with the id (\S+)$/, '$1 numaralı anahtar yok'],
  [/^.+ not found: there is none with the id (\S+)$/, '$1 numaralı kayıt yok'],
  [/^Too many failed authentications from your address; try again in (\d+) s$/, 'Adresinizden çok fazla başarısız giriş denemesi yapıldı; $1 saniye sonra yeniden deneyin'],
  [/^The key is revoked; create a new one instead$/, 'Anahtar iptal edilmiş; yeni bir anahtar üretin'],
  [/^The key has expired; create a new one instead$/, 'Anahtarın süresi dolmuş; yeni bir anahtar üretin'],
  [/^The account (\S+) has no webhook$/, '$1 numaralı hesabın webhooku yok'],
  [/^The account's webhook is paused$/, 'Hesabın webhooku duraklatılmış'],
  [/^The account is suspended; its webhook is not called until it is resumed$/, 'Hesap askıda; sürdürülene dek webhook bildirimi gönderilmez'],
  [/^The event is queued already$/, 'Olay zaten sırada'],
  [/^The price is accepted already$/, 'Fiyat zaten kabul edilmiş'],
  [/^The price is discarded already$/, 'Fiyat zaten atılmış'],
  [/^The order (\S+) was recorded with another body$/, '$1 numaralı sipariş başka bir içerikle kaydedilmiş'],
  [/^Listing (\S+): (\S+) asked for, (\S+) in stock$/, '$1 numaralı ilan: $2 adet istendi, stokta $3 var'],
  [/^Listing (\S+): .*; it is (\S+)$/, '$1 numaralı ilan satışta değil'],
  [/^The listing is approved already(?:; its owner has paused it)?$/, 'İlan zaten onaylanmış'],
  [/^The listing is rejected already$/, 'İlan zaten reddedilmiş'],
  [/^The listing is sold and cannot be changed any more$/, 'İlan satılmış, artık değiştirilemez'],
  [/^The period of the listing has ended; its owner has to publish it again$/, 'İlanın süresi bitmiş; sahibi onu yeniden yayımlamalı'],
  [/^Import (\S+) has changed nothing: there is nothing to revert$/, '$1 numaralı içe aktarma hiçbir şey değiştirmemiş: geri alınacak bir şey yok'],
  [/^Import (\S+) is already reverted, by import (\S+)$/, '$1 numaralı içe aktarma zaten $2 ile geri alınmış'],
  [/^The prices of the service follow from its sales$/, 'Hizmetin fiyatları satışlarından oluşur'],
  [/^Item (\S+) is already merged into item (\S+)$/, '$1 numaralı ürün zaten $2 ile birleştirilmiş'],
  [/^Item (\S+) cannot be merged into itself$/, '$1 numaralı ürün kendisiyle birleştirilemez'],
  [/^Item (\S+) cannot be merged into two items$/, '$1 numaralı ürün iki ürünle birleştirilemez'],
  [/^Merge (\S+) is already undone$/, '$1 numaralı birleştirme zaten geri alınmış'],
  [/^Merge (\S+) cannot be undone before merge (\S+), which merged item (\S+) into another one$/, 'Önce $2 numaralı birleştirme geri alınmalı: $3 numaralı ürünü başka bir ürünle birleştirmiş'],
  [/^Another (?:category|item) has this slug$/, 'Bu adres adı başkasında var'],
  [/^Another (?:category|item) has this ref$/, 'Bu ref başkasında var'],
  [/^The (?:category|item) (\S+) has the ref (\S+) in (\S+)$/, '$2 refi $3 kaynağında $1 numaralı kayıtta var'],
]

/** What a code says where its sentence is not known. */
const CODES: Record<string, string> = {
  INVALID_JSON: 'İstek okunamadı.',
  UNAUTHENTICATED: 'Oturum bitti; yeniden giriş yapın.',
  FORBIDDEN: 'Bu işlem için yetki yok.',
  PRECONDITION_FAILED: 'Siz baktıktan sonra değişti; yeniden bakıp karar verin.',
  IDEMPOTENCY_CONFLICT: 'Aynı istek hâlâ sürüyor ya da başka bir içerikle gönderilmişti.',
  PAYLOAD_TOO_LARGE: 'Dosya ya da istek, kabul edilenden büyük.',
  UNSUPPORTED_MEDIA_TYPE: 'Bu içerik türü okunmuyor.',
  RATE_LIMITED: 'Çok fazla istek; biraz bekleyin.',
  INTERNAL_ERROR: 'Hizmette bir şey ters gitti; kayda geçti.',
  UNAVAILABLE: 'Hizmet şu anda veritabanına ulaşamıyor; birazdan yeniden deneyin.',
  OFFLINE: 'Hizmete ulaşılamıyor.',
  NO_ANSWER: 'Yanıt okunamadı.',
}

const REQUIRED = /^is required: it (.+)$/

/** The sentence in Turkish, null where it is not known. */
export function turkishSentence(sentence: string): string | null {
  const required = REQUIRED.exec(sentence)?.[1]
  if (required !== undefined) {
    const rule = turkishSentence(required)
    return rule && `gerekli: ${rule}`
  }
  for (const [known, turkish] of SENTENCES) if (known.test(sentence)) return sentence.replace(known, turkish)
  return null
}

/** A refusal in Turkish: its sentence, else its code, else as the service said it. */
export function turkishRefusal({ code, message }: { code: string; message: string }): string {
  return turkishSentence(message) ?? CODES[code] ?? message
}
