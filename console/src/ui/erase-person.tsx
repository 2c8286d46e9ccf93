// Exports and erases what is stored about an account or a buyer.
import { useState } from 'preact/hooks'
import { Dialog, Field, Form, type Values } from '#ui/dialog.tsx'
import { announce } from '#ui/toasts.tsx'
import { isAllowed, useWrite } from '../api.ts'
import { t } from '../words.ts'
import { PermittedButton } from './permitted-button.tsx'

/** @param account without it, the dialog asks for the reference of a buyer */
export function ErasePerson({ account, onDone }: { account?: { id: number; name: string }; onDone: () => void }) {
  const [open, setOpen] = useState(false)
  const { busy, error, write, clear } = useWrite()
  const close = () => {
    setOpen(false)
    clear()
  }
  const submit = async ({ buyer_reference: reference, reason = '' }: Values) => {
    if (!(await write('POST', '/erasures', { ...(account ? { account_id: account.id } : { buyer_reference: reference! }), reason }))) return
    close()
    announce(t('erasureStarted'))
    onDone()
  }
  return (
    <>
      <PermittedButton need="owner" class="danger" onClick={() => setOpen(true)}>
        {t(account ? 'erase' : 'eraseBuyer')}
      </PermittedButton>
      {open && (
        <Dialog title={account ? t('eraseTitle', { name: account.name }) : t('eraseBuyer')} onClose={close}>
          <Form submit={t('erase')} danger busy={busy} error={error} onSubmit={(values) => void submit(values)} onCancel={close}>
            <p>{t('eraseText')}</p>
            {!account && (
              <Field label={t('buyerReference')}>
                <input name="buyer_reference" required maxLength={100} />
              </Field>
            )}
            <Field label={t('reason')} hint={t('eraseReasonHint')}>
              <input name="reason" required maxLength={200} />
            </Field>
          </Form>
        </Dialog>
      )}
    </>
  )
}

/** The export of an account, as a file; people without the permission see no link. */
export function ExportLink({ accountId }: { accountId: number }) {
  if (!isAllowed('support')) return null
  return (
    <a class="button" href={`/operator/v1/accounts/${accountId}/personal-data`} download="personal-data.json">
      {t('exportData')}
    </a>
  )
}
