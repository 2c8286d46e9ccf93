// Findings of health checks and their remedies in Turkish: the texts of each rule, with the same parameters.
import type { FindingRule, FindingTexts } from './findings.ts'

const SOURCE =
  '[{name}; ][{aside} tarafından devre dışı bırakıldı; ][en yeni veri {age_days} günlük|henüz veri yok][, genellikle {interval_days} günde bir]' +
  '[; %{confirmed} doğrulanmış, %{trusted} güvenilir, %{disputed} çelişkili, %{stale} güncel değil]; {held} bekletilen[; fiyatlar (kapsam): {covered}]'
const DECIDE = '[bunlara karar verin: mintmark held list --market {held_market}]'

export const FINDINGS_IN_TURKISH: Record<FindingRule, FindingTexts> = {
  settings_valid: { found: 'hepsi geçerli' },
  settings_invalid: { found: '{message}', advice: 'ortam değişkenini düzeltin' },
  port_free: { found: '{address} boş' },
  port_used_here: { found: '{address} kullanımda; bu DATA_DIR üzerinde bir mintmark çalışıyor' },
  port_used_by_us: { found: '{address} bir mintmark tarafından kullanılıyor' },
  port_used: { found: '{address} kullanımda', advice: 'diğer programı durdurun veya {setting} ayarını değiştirin' },
  data_dir_not_needed: { found: 'gerekli değil: DATABASE_URL ayarlı' },
  data_dir_to_make: { found: '{path} ilk başlatmada oluşturulacak' },
  data_dir_writable: { found: '{path}' },
  data_dir_not_writable: { found: '{path} yazılabilir değil', advice: 'sahibini değiştirin veya DATA_DIR ayarlayın' },
  disk_free: { found: '{gigabytes} GB boş' },
  disk_low: { found: '{gigabytes} GB boş', advice: 'yer açın: disk dolunca veritabanı yazmayı durdurur' },
  limits_off: { found: 'kapalı: RATE_LIMITS' },
  limits_database: { found: 'tüm düğümler PostgreSQL üzerinde, paylar hâlinde birlikte sayar' },
  limits_memory: { found: 'bellekte sayılır: gömülü veritabanının tek düğümü vardır' },
  dumps_kept: { found: '{place} içinde saklanıyor' },
  dumps_refused: { found: '{place} kullanılamıyor: {message}', advice: 'DUMPS_S3_URL, anahtarları veya DUMPS_S3_REGION ayarını düzeltin' },
  dumps_unreachable: { found: '{place} kullanılamıyor: {message}', advice: 'deponun çalıştığını ve buradan erişilebildiğini denetleyin' },
  dump_missing: {
    found: '{place} içinde {at} tarihli döküm yok',
    advice: 'birden çok makinedeki düğümler dökümleri paylaşmalıdır: DUMPS_DIR ile ortak bir klasör veya DUMPS_S3_URL ayarlayın',
  },
  sandboxes_ready: { found: 'en çok {max} taneden {count} tanesi' },
  sandboxes_role: {
    found: 'veritabanı rolünün veritabanı oluşturma izni yok; hesaplar deneme ortamı oluşturamaz',
    advice: 'yönetici olarak çalıştırın: alter role {role} createdb; ya da SANDBOXES=0 ayarlayın',
  },
  archive_missing: {
    found: '{place} içinde arşivlenmiş aylar eksik ({count}), örneğin {file}',
    advice: 'birden çok makinedeki düğümler arşivi paylaşmalıdır: ARCHIVE_DIR ile ortak bir klasör veya DUMPS_S3_URL ayarlayın',
  },
  database_good: { found: '{database}, sürüm {version}' },
  database_old: { found: '{database}, sürüm {version}', advice: 'PostgreSQL 15 veya daha yenisi gerekli' },
  database_not_durable: { found: '{database}, sürüm {version}, yazılanlar kalıcı değil', advice: 'fsync ve full_page_writes ayarlarını açın' },
  database_url_unreachable: { found: '{message}', advice: 'DATABASE_URL ayarını ve sunucunun çalıştığını denetleyin' },
  database_not_started: { found: '{message}', advice: 'DATA_DIR altındaki postgres.log dosyasına bakın' },
  replica_good: { found: 'veritabanının bir kopyası, son değişiklik {seconds} sn önce' },
  replica_not_used: { found: '{message}', advice: 'DATABASE_REPLICA_URL ayarını düzeltin: büyük okumalar birincil sunucuyu yoruyor' },
  migrations_done: { found: 'güncel' },
  migrations_pending: { found: '{count} tanesi bekliyor', advice: 'mintmark migrate çalıştırın' },
  worker_alive: { found: '{count} tanesi çalışıyor' },
  worker_replaced: { found: 'çalışan yok, sonuncusu {seconds} sn önce görüldü' },
  worker_missing: {
    found: '[çalışan yok, sonuncusu {seconds} sn önce görüldü|hiç görülmedi]',
    advice: 'mintmark work (veya serve) başlatın: webhook teslimleri bekliyor ve yayın süreleri bitmiyor',
  },
  clock_good: { found: 'veritabanının saatinden {milliseconds} ms farklı' },
  clock_off: { found: 'veritabanının saatinden {milliseconds} ms farklı', advice: 'saatleri eşitleyin (NTP)' },
  source: { found: SOURCE, advice: DECIDE },
  source_late: { found: `gecikti; ${SOURCE}`, advice: DECIDE },
  ratios_open: {
    found: 'karar bekleyen olağan oranlar: {count}',
    advice: 'karar verin: mintmark usual-ratios list --state open',
  },
  rates_known: { found: '{currencies} için biliniyor' },
  rates_unchecked: {
    found: '{currencies} için biliniyor; {unchecked} fiyat, gününün kuru olmadığı için denetlenemedi',
    advice: '{first} gününden önceki kurları yükleyin: mintmark rates import <dosya>; fiyatlar bir saat içinde yeniden denetlenir',
  },
  rates_old: {
    found: '{old} kurları {age_days} günlük[; {unchecked} fiyat, gününün kuru olmadığı için denetlenemedi]',
    advice: 'güncel kurları yükleyin, sonra her iş günü yineleyin: mintmark rates set {rates}',
  },
  rates_missing: {
    found:
      '{currencies} için kur yok: sort_by=price bu fiyatlı ürünleri sona koyar ve para birimleri arasında fiyat karşılaştırılmaz' +
      '[; {unchecked} fiyat, gününün kuru olmadığı için denetlenemedi]',
    advice: 'yükleyin: mintmark rates set {rates}',
  },
  prices_held: { found: '{count} fiyat bekletiliyor', advice: 'bunlara karar verin: mintmark held list' },
  webhooks_failing: {
    found: 'teslim edilemeyen: {count}; hesaplar: {accounts}',
    advice: 'konsolda teslim denemelerine bakın ve hesap sahiplerine haber verin',
  },
  keys_expiring: {
    found: '{days} gün içinde süresi dolacak: {count}; hesaplar: {accounts}',
    advice: 'her birini mintmark key rotate <id> ile yenileyin ve yeni anahtarı sahibine verin',
  },
  own_webhook_failing: {
    found: 'son olay webhook adresinize teslim edilemedi',
    advice: 'alıcınızı denetleyin, ardından kaçırdığı olayları yeniden gönderin',
  },
  own_key_expiring: {
    found: '[{label} adlı, ]sonu {last4} olan anahtarın süresi {day} tarihinde doluyor',
    advice: 'o günden önce hizmetin işletmecisinden yeni bir anahtar isteyin',
  },
}
