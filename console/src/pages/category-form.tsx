// Creates a category, or changes one.
import { Dialog, Field, Form, type Values } from '#ui/dialog.tsx'
import { Options } from '#ui/options.tsx'
import { Picker } from '#ui/picker.tsx'
import { announce } from '#ui/toasts.tsx'
import { useWrite } from '../api.ts'
import type { StoredCategory } from '../api-types.ts'
import { t } from '../words.ts'
import { marketOptions } from '../ui/market-options.ts'
import { categories } from '../ui/sources.ts'

interface CategoryFormProps {
  category: StoredCategory | null
  onClose: () => void
  onSaved: () => void
}

export function CategoryForm({ category, onClose, onSaved }: CategoryFormProps) {
  const { busy, error, write } = useWrite()
  const submit = async (values: Values) => {
    const text = (name: string) => values[name] ?? ''
    const fields = {
      name: text('name'),
      game: text('game'),
      parent_id: text('parent_id') === '' ? null : Number(text('parent_id')),
      image: text('image') || null,
      ...(text('slug') && { slug: text('slug') }),
    }
    const saved = category
      ? await write('PATCH', `/categories/${category.id}`, fields)
      : await write('POST', '/categories', { ...fields, market: text('market'), ...(text('ref') && { ref: text('ref') }) })
    if (!saved) return
    announce(t('saved'))
    onSaved()
  }
  return (
    <Dialog title={category ? category.name : t('newCategory')} onClose={onClose}>
      <Form submit={t('save')} busy={busy} error={error} onSubmit={(values) => void submit(values)} onCancel={onClose}>
        <Field label={t('name')}>
          <input name="name" required defaultValue={category?.name} />
        </Field>
        <div class="pair">
          <Field label={t('game')}>
            <input name="game" required defaultValue={category?.game} placeholder="pokemon" />
          </Field>
          <Field label={t('slug')} hint={t('slugHint')}>
            <input name="slug" defaultValue={category?.slug} />
          </Field>
        </div>
        {!category && (
          <div class="pair">
            <Field label={t('source')}>
              <select name="market">
                <Options of={marketOptions()} />
              </select>
            </Field>
            <Field label={t('ref')} hint={t('refHint')}>
              <input name="ref" />
            </Field>
          </div>
        )}
        <div class="pair">
          <Picker label={t('parentCategory')} hint={t('parentHint')} name="parent_id" source={categories} value={String(category?.parent_id ?? '')} />
          <Field label={t('picture')}>
            <input name="image" type="url" defaultValue={category?.image ?? ''} />
          </Field>
        </div>
      </Form>
    </Dialog>
  )
}
