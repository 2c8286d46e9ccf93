// An account's collections.
import { useState } from 'preact/hooks'
import { useVersion } from '#ui/data.ts'
import { confirm, Dialog, Field, Form, type Values } from '#ui/dialog.tsx'
import { announce } from '#ui/toasts.tsx'
import { WorthHistory } from '#ui/worth-history.tsx'
import { List, useData, useWrite, writeNow } from '../api.ts'
import type { StoredCollection } from '../api-types.ts'
import { collectionVisibilityValues as VISIBILITIES } from '../api-values.ts'
import { PermittedButton } from '../ui/permitted-button.tsx'
import { count, t, termText } from '../words.ts'

export function AccountCollections({ accountId }: { accountId: number }) {
  const [worthOf, setWorthOf] = useState<StoredCollection | null>(null)
  const [edited, setEdited] = useState<StoredCollection | 'new' | null>(null)
  const { busy, error, write, clear } = useWrite()
  const [version, changed] = useVersion()
  const close = () => {
    setEdited(null)
    clear()
  }
  const submit = async (values: Values) => {
    const fields = { name: values.name!, description: values.description, visibility: values.visibility }
    const saved =
      edited === 'new'
        ? await write('POST', '/collections', { account_id: accountId, ...fields })
        : await write('PATCH', `/collections/${edited!.id}`, fields)
    if (!saved) return
    close()
    announce(t('saved'))
    changed()
  }
  const remove = async (collection: StoredCollection) => {
    const question = {
      title: t('removeTitle', { name: collection.name }),
      text: t('removeCollectionText', { count: collection.items_count }),
      action: t('remove'),
    }
    if (!(await confirm(question))) return
    if (!(await writeNow('DELETE', `/collections/${collection.id}`))) return
    announce(t('removed'))
    if (worthOf?.id === collection.id) setWorthOf(null)
    changed()
  }
  const shown = edited === 'new' ? null : edited
  return (
    <>
      <List
        path="/collections"
        fixed={{ account_id: accountId }}
        caption={t('collections')}
        empty={t('noCollections')}
        version={version}
        filters={[
          { name: 'search', label: t('name'), type: 'search' },
          { name: 'visibility', label: t('visibility'), options: VISIBILITIES.map((code) => ({ value: code, text: termText('visibility', code) })) },
        ]}
        actions={
          <PermittedButton need="support" class="main" onClick={() => setEdited('new')}>
            {t('newCollection')}
          </PermittedButton>
        }
        rowKey={(collection) => collection.id}
        columns={[
          { head: t('name'), cell: (collection) => collection.name },
          { head: t('visibility'), cell: (collection) => termText('visibility', collection.visibility) },
          { head: t('records'), number: true, cell: (collection) => count(collection.items_count) },
          { head: t('description'), wide: true, cell: (collection) => collection.description || '–' },
          {
            head: t('actions'),
            cell: (collection) => (
              <span class="buttons tight">
                <button type="button" aria-label={`${t('worth')}: ${collection.name}`} onClick={() => setWorthOf(collection)}>
                  {t('worth')}
                </button>
                <PermittedButton need="support" aria-label={`${t('edit')}: ${collection.name}`} onClick={() => setEdited(collection)}>
                  {t('edit')}
                </PermittedButton>
                <PermittedButton
                  need="support"
                  class="danger"
                  aria-label={`${t('remove')}: ${collection.name}`}
                  onClick={() => void remove(collection)}
                >
                  {t('remove')}
                </PermittedButton>
              </span>
            ),
          },
        ]}
      />
      {worthOf && <CollectionWorth key={worthOf.id} of={worthOf} />}
      {edited && (
        <Dialog title={shown ? shown.name : t('newCollection')} onClose={close}>
          <Form submit={t('save')} busy={busy} error={error} onSubmit={(values) => void submit(values)} onCancel={close}>
            <Field label={t('name')}>
              <input name="name" required maxLength={200} defaultValue={shown?.name} />
            </Field>
            <Field label={t('description')}>
              <textarea name="description" rows={3} maxLength={1000} defaultValue={shown?.description} />
            </Field>
            <Field label={t('visibility')}>
              <select name="visibility">
                {VISIBILITIES.map((code) => (
                  <option key={code} value={code} selected={code === shown?.visibility}>
                    {termText('visibility', code)}
                  </option>
                ))}
              </select>
            </Field>
          </Form>
        </Dialog>
      )}
    </>
  )
}

function CollectionWorth({ of: { id, name } }: { of: StoredCollection }) {
  return <WorthHistory of={useData(`/collections/${id}/worth-history`)} name={name} />
}
