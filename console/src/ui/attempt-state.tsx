// Result of a delivery attempt; a notification of a receiver check is neither good nor bad, because most of them should be rejected.
import { Status } from '#ui/states.tsx'
import type { WebhookAttempt } from '../api-types.ts'
import { t, termText } from '../words.ts'

export function AttemptState({ of: { success, mark, status_code: status, error } }: { of: WebhookAttempt }) {
  return (
    <>
      {mark === 'check' ? <span class="status">{t('receiverCheck')}</span> : <Status code={success ? 'delivered' : 'failed'} />}{' '}
      {status ?? termText('attempt', error ?? '')}
    </>
  )
}
