// E-mails about notifications to the operator, by SMTP.
import { createTransport } from 'nodemailer'
import { TURKISH } from '#core/problem-texts/turkish.ts'
import type { Params } from '#core/problems.ts'
import { FINDINGS_IN_TURKISH } from '#health/findings-turkish.ts'
import { type FindingRule, textsOf } from '#health/findings.ts'
import type { Config } from '#config.ts'
import type { Notification } from './notification-types.ts'

const TIMEOUT_MS = 10_000
const TIMEOUTS = ['connectionTimeout', 'greetingTimeout', 'socketTimeout', 'dnsTimeout']

const WORDS = {
  en: { one: 'Mintmark', more: 'and {count} more', console: 'Console' },
  tr: { one: 'Mintmark', more: 've {count} bildirim daha', console: 'Konsol' },
} as const

const SEVERITIES = {
  en: { info: 'Info', warning: 'Warning', critical: 'Critical' },
  tr: { info: 'Bilgi', warning: 'Uyarı', critical: 'Kritik' },
} as const

export interface Mailer {
  /**
   * Sends one e-mail.
   * @param bodies of deliveries
   * @throws Error if the server does not accept it within seconds
   */
  send: (bodies: readonly string[]) => Promise<void>
  close: () => void
}

export function openMailer(email: NonNullable<Config['notify']['email']>): Mailer {
  const { server, from, to, language } = email
  // Options beside a URL are ignored, but those in its query are not.
  const url = new URL(server)
  for (const name of TIMEOUTS) if (!url.searchParams.has(name)) url.searchParams.set(name, String(TIMEOUT_MS))
  const transport = createTransport(url.href)
  return {
    async send(bodies) {
      const notifications = bodies.map((body) => (JSON.parse(body) as { data: Notification }).data)
      const lines = notifications.map((one) => lineOf(one, language))
      const more = lines.length > 1 ? ` (${WORDS[language].more.replace('{count}', String(lines.length - 1))})` : ''
      await transport.sendMail({
        from,
        to: [...to],
        subject: `${WORDS[language].one}: ${lines[0]!.title}${more}`,
        text: lines.map(({ title, text }) => `${title}\n${text}`).join('\n\n'),
        // Automatic replies, such as those about absence, are not wanted.
        headers: { 'Auto-Submitted': 'auto-generated' },
      })
    },
    close: () => transport.close(),
  }
}

/** A line of what was found, and what to do. */
function lineOf({ kind, subject, node, severity, params, found, advice }: Notification, language: 'en' | 'tr'): { title: string; text: string } {
  const isTranslated = language === 'tr' && Object.hasOwn(FINDINGS_IN_TURKISH, kind)
  const texts = isTranslated ? textsOf(FINDINGS_IN_TURKISH[kind as FindingRule], params as Params, TURKISH) : { found, advice: advice ?? '' }
  const title = `${SEVERITIES[language][severity]}: ${subject}${node === null ? '' : ` (${node})`}: ${texts.found}`
  return { title: title.replace(/\s+/g, ' '), text: texts.advice }
}
