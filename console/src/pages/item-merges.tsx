// Merges an item into another after showing both, and lists the merges of an item with undo.
import { useState } from 'preact/hooks'
import { confirm, Dialog, Form, type Values } from '#ui/dialog.tsx'
import { Id } from '#ui/id.tsx'
import { Await, Refusal } from '#ui/states.tsx'
import { Table } from '#ui/table.tsx'
import { Picker } from '#ui/picker.tsx'
import { announce } from '#ui/toasts.tsx'
import { useData, useWrite } from '../api.ts'
import type { Merge, PricedItem } from '../api-types.ts'
import { items } from '../ui/sources.ts'
import { PermittedButton } from '../ui/permitted-button.tsx'
import { moment, t, termText } from '../words.ts'

interface MergeFormProps {
  item: PricedItem
  onClose: () => void
  /** called with the id of the survivor */
  onMerged: (into: number) => void
}

/** Asks for the survivor, shows it, and merges the item into it. */
export function MergeForm({ item, onClose, onMerged }: MergeFormProps) {
  const { busy, error, write } = useWrite()
  const [into, setInto] = useState<number | null>(null)
  const survivor = useData(into === null ? null : `/items/${into}`)
  const submit = async (values: Values) => {
    const id = Number(values.into)
    // The first submit shows the chosen item, the second one merges.
    if (into !== id) return setInto(id)
    const merged = await write('POST', `/items/${item.id}/merge`, { into: id })
    if (!merged) return
    announce(t('mergeDone', { name: merged.data.into.name }))
    onMerged(merged.data.into.id)
  }
  const isShown = survivor.data !== null && !survivor.loading
  return (
    <Dialog title={t('mergeTitle', { name: item.name })} onClose={onClose}>
      <p>{t('mergeText')}</p>
      <Form
        submit={isShown ? t('merge') : t('mergeShow')}
        danger={isShown}
        busy={busy || survivor.loading}
        error={error ?? survivor.error}
        onSubmit={(values) => void submit(values)}
        onCancel={onClose}
      >
        <Picker label={t('mergeInto')} hint={t('mergeIntoHint')} name="into" source={items} required onSettled={() => setInto(null)} />
        {isShown && into !== null && <p role="status">{t('mergeQuestion', { from: described(item), into: described(survivor.data!) })}</p>}
      </Form>
    </Dialog>
  )
}

function described({ id, name, code, category, market }: PricedItem): string {
  return `${[name, code].filter(Boolean).join(' ')} (${category.name}, ${termText('market', market)}, ${id})`
}

/** The merges into an item that are in effect; renders nothing if there are none. */
export function ItemMerges({ itemId, onUndone }: { itemId: number; onUndone: () => void }) {
  const merges = useData('/merges', { query: { item_id: itemId, state: 'in_effect', per_page: 100 } })
  const { busy, error, write } = useWrite()
  const undo = async (merge: Merge) => {
    const asked = { title: t('splitTitle', { name: merge.from.name }), text: t('splitText'), action: t('split') }
    if (!(await confirm(asked))) return
    if (!(await write('POST', `/batches/${merge.batch_id}/revert`))) return
    announce(t('splitDone', { name: merge.from.name }))
    merges.reload()
    onUndone()
  }
  if (merges.data?.length === 0) return null
  return (
    <section aria-labelledby="merges">
      <h2 id="merges">{t('merges')}</h2>
      <Refusal error={error} />
      <Await of={merges}>
        {(rows) => (
          <Table
            caption={t('merges')}
            rows={rows}
            rowKey={(merge) => merge.id}
            columns={[
              { head: t('id'), number: true, cell: (merge) => <Id value={merge.from.id} /> },
              { head: t('name'), cell: (merge) => merge.from.name },
              { head: t('source'), cell: (merge) => termText('market', merge.from.market) },
              { head: t('ref'), wide: true, cell: (merge) => merge.from.ref },
              { head: t('when'), cell: (merge) => moment(merge.at) },
              {
                head: t('split'),
                cell: (merge) => (
                  <PermittedButton
                    need="catalogue"
                    disabled={busy}
                    aria-label={t('splitOne', { name: merge.from.name, id: merge.from.id })}
                    onClick={() => void undo(merge)}
                  >
                    {t('split')}
                  </PermittedButton>
                ),
              },
            ]}
          />
        )}
      </Await>
    </section>
  )
}
