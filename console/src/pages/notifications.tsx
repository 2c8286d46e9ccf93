// Notifications of operators: what needs attention, each with the page to fix it.
import { Heading } from '#ui/heading.tsx'
import { NotificationList, type ShownNotification } from '#ui/notifications.tsx'
import { marketCodeValues as MARKETS } from '../api-values.ts'
import { t } from '../words.ts'
import { nameOfCheck } from './health.tsx'

export const NOTIFICATIONS_PATH = '/console/notifications'

export function NotificationsPage() {
  return (
    <>
      <Heading>{t('notifications')}</Heading>
      <p class="quiet">{t('notificationsText')}</p>
      <NotificationList path="/notifications" about={(one) => <About of={one} />} />
    </>
  )
}

const PAGES: Record<string, string> = {
  dumps: '/console/dumps',
  'held prices': '/console/price-reviews?state=held',
  keys: '/console/accounts',
  rates: '/console/rates',
  webhooks: '/console/webhooks?state=failed',
}

function About({ of: { subject, node } }: { of: ShownNotification }) {
  const isSource = (MARKETS as readonly string[]).includes(subject)
  return (
    <>
      <a href={isSource ? '/console/sources' : (PAGES[subject] ?? '/console/health')}>{nameOfCheck(subject)}</a>{' '}
      {node && <span class="quiet">{node}</span>}
    </>
  )
}
