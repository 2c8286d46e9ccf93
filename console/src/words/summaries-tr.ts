// The sentence that sums up the explanation of a price, in Turkish: the texts of the service, with the same parameters.
import type { SummaryTexts } from '../../../src/prices/reviews/summary.ts'

const DIFFER = '{market} ve {other} fiyatları[ arasında {fold} kat| arasında %{percent}] fark var'
const SHOWN_ONLY = 'bu nedenle gösterilir, ancak başka hesaplarda kullanılmaz'

export const SUMMARIES_IN_TURKISH: SummaryTexts = {
  summaries: {
    no_price: '{market} kaynağında bu ürünün {label} fiyatı yok',
    only_held: '{market} kaynağının fiyatı inceleme için bekletiliyor, bu nedenle yayımlanmış fiyat yok',
    confirmed:
      '{market} fiyatını {day} tarihinde bir kişi onayladı[; {other} ile arasında {fold} kat fark olsa da kullanılır|; {other} ile arasında %{percent} fark olsa da kullanılır|, bu nedenle kullanılır]',
    too_few_people: `Kendi fiyatımızın arkasında yeterince kişi yok (en az üç alıcı ve iki satıcı gerekir), ${SHOWN_ONLY}`,
    no_recent_sale: `Kendi fiyatımızın dayandığı son satış {day} tarihli, yani 90 günden eski, ${SHOWN_ONLY}`,
    set_aside: `{market} kaynağı bir operatör tarafından devre dışı bırakıldı, ${SHOWN_ONLY}`,
    stale: `{market} bu fiyatı {day} tarihinden beri, alışılandan uzun süredir doğrulamadı, ${SHOWN_ONLY}`,
    follows: `${DIFFER}; {followed} fiyatı esas alınıyor, çünkü [{third} onunla uyuşuyor|{wrong} fiyatı {why}]`,
    follows_neither: `${DIFFER}; hangisinin yanlış olduğu belli olmadığından hiçbiri esas alınmıyor`,
    disputed: `{market} fiyatı {why}, ${SHOWN_ONLY}`,
    condition_unknown: `${DIFFER}; [{unknown} kondisyon belirtmediğinden|ikisi de kondisyon belirtmediğinden] fark kondisyondan kaynaklanabilir ve iki fiyat da kullanılır`,
    differ: `${DIFFER}; {market} fiyatına karşı başka bir bulgu olmadığından kullanılır`,
    agree:
      'İki kaynak uyuşuyor: {market} ve {other} fiyatları[ arasındaki {fold} kat| arasındaki %{percent}] fark olağan, bu nedenle {market} fiyatı kullanılır',
    not_compared: '{market} fiyatı kullanılıyor, ancak diğer kaynaklarla karşılaştırılamadı: {why}',
    only_market: 'Bu ürünün {label} fiyatı yalnızca {market} kaynağında var, bu nedenle karşılaştırılacak fiyat yok',
    only_own_sales: 'Kendi fiyatımız {pairs} satıcı-alıcı çiftine dayanıyor; karşılaştırılacak başka fiyat yok',
  },
  reasons: {
    own_averages: 'kendi kaynağının diğer değerlerinden çok uzak',
    jump: 'önceki fiyattan çok uzak ve henüz doğrulanmadı',
    average_jump: 'beklenenden fazla değişen bir ortalamaya sahip',
    identical_figures: 'başka bir ürünün değerleriyle aynı',
    shared_id: 'başka bir ürünle aynı mağaza kimliğine sahip',
    grade_order: 'derece sırasına aykırı: PSA 10, derecesiz karttan ucuz',
    other_markets: 'başka hiçbir kaynakla uyuşmuyor',
    no_rate: 'döviz kuru yok',
    other_time: 'fiyatların tarihleri birbirinden çok uzak',
    own_sales: 'diğer tek fiyat kendi satışlarımızdan geliyor',
    not_trusted: 'diğer fiyatların hiçbiri güvenilir değil',
  },
  moreHeld: '; bekletilen fiyat: {held}',
}
