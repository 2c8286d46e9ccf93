// Notifications of the account, each with the page to fix it.
import { Heading } from '#ui/heading.tsx'
import { NotificationList, type ShownNotification } from '#ui/notifications.tsx'
import { t } from '../words.ts'

export function NotificationsPage() {
  return (
    <>
      <Heading>{t('notifications')}</Heading>
      <NotificationList path="/plus/notifications" about={(one) => <About of={one} />} />
    </>
  )
}

function About({ of: { subject } }: { of: ShownNotification }) {
  return subject === 'webhook' ? <a href="/desk/webhook">{t('webhook')}</a> : <a href="/desk/account">{t('apiKey')}</a>
}
