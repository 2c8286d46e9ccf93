// Creates or changes an item; lists are entered with one entry per line.
import { Dialog, Field, Form, type Values } from '#ui/dialog.tsx'
import { Options } from '#ui/options.tsx'
import { Picker } from '#ui/picker.tsx'
import { announce } from '#ui/toasts.tsx'
import { useWrite } from '../api.ts'
import type { StoredItem } from '../api-types.ts'
import { genreValues as GENRES } from '../api-values.ts'
import { t, termText } from '../words.ts'
import { marketOptions } from '../ui/market-options.ts'
import { categories } from '../ui/sources.ts'

interface ItemFormProps {
  item: StoredItem | null
  /** category of a new item */
  categoryId: number | null
  onClose: () => void
  onSaved: (item: StoredItem) => void
}

export function ItemForm({ item, categoryId, onClose, onSaved }: ItemFormProps) {
  const { busy, error, write } = useWrite()
  const submit = async (values: Values) => {
    const fields = fieldsOf(values)
    const text = (name: string) => values[name] ?? ''
    const saved = item
      ? await write('PATCH', `/items/${item.id}`, fields)
      : await write('POST', '/items', { ...fields, market: text('market'), ...(text('ref') && { ref: text('ref') }) })
    if (!saved) return
    announce(t('saved'))
    onSaved(saved.data)
  }
  const details: StoredItem['details'] = item?.details ?? {}
  return (
    <Dialog title={item ? item.name : t('newItem')} onClose={onClose}>
      <Form submit={t('save')} busy={busy} error={error} onSubmit={(values) => void submit(values)} onCancel={onClose}>
        <Field label={t('name')}>
          <input name="name" required defaultValue={item?.name} />
        </Field>
        <div class="pair">
          <Field label={t('code')}>
            <input name="code" defaultValue={item?.code ?? ''} placeholder="4/102" />
          </Field>
          <Field label={t('slug')} hint={t('slugHint')}>
            <input name="slug" defaultValue={item?.slug} />
          </Field>
          <Field label={t('genre')}>
            <select name="genre">
              {GENRES.map((code) => (
                <option key={code} value={code} selected={code === item?.genre}>
                  {termText('genre', code)}
                </option>
              ))}
            </select>
          </Field>
          <Field label={t('game')}>
            <input name="game" required defaultValue={item?.game} placeholder="pokemon" />
          </Field>
          <Picker label={t('category')} name="category_id" source={categories} value={String(item?.category_id ?? categoryId ?? '')} required />
          {!item && (
            <>
              <Field label={t('source')}>
                <select name="market">
                  <Options of={marketOptions()} />
                </select>
              </Field>
              <Field label={t('ref')} hint={t('refHint')}>
                <input name="ref" />
              </Field>
            </>
          )}
        </div>
        <Field label={t('pictures')} hint={t('picturesHint')}>
          <textarea name="images" rows={2} defaultValue={item?.images.map((image) => image.url).join('\n')} />
        </Field>
        <Field label={t('attributes')} hint={t('attributesHint')}>
          <textarea name="attributes" rows={3} defaultValue={item?.attributes.map(({ name, value }) => `${name}: ${value}`).join('\n')} />
        </Field>
        <fieldset>
          <legend>{t('details')}</legend>
          <div class="pair">
            {TEXTS.map((name) => (
              <Field key={name} label={termText('detail', name)}>
                <input name={`details.${name}`} defaultValue={details[name]} />
              </Field>
            ))}
            {NUMBERS.map((name) => (
              <Field key={name} label={termText('detail', name)}>
                <input name={`details.${name}`} type="number" min={1} defaultValue={details[name]} />
              </Field>
            ))}
            <Field label={termText('detail', 'types')} hint={t('commasHint')}>
              <input name="details.types" defaultValue={details.types?.join(', ')} />
            </Field>
            <Field label={termText('detail', 'dex_ids')} hint={t('commasHint')}>
              <input name="details.dex_ids" defaultValue={details.dex_ids?.join(', ')} />
            </Field>
          </div>
        </fieldset>
      </Form>
    </Dialog>
  )
}

const TEXTS = ['rarity', 'illustrator', 'stage', 'evolve_from', 'suffix'] as const
const NUMBERS = ['hp', 'level'] as const

function fieldsOf(values: Values) {
  const text = (name: string) => values[name] ?? ''
  const listed = (name: string, separator: RegExp) =>
    text(name)
      .split(separator)
      .map((part) => part.trim())
      .filter(Boolean)
  const details: StoredItem['details'] = {}
  for (const name of TEXTS) if (text(`details.${name}`)) details[name] = text(`details.${name}`)
  for (const name of NUMBERS) if (text(`details.${name}`)) details[name] = Number(text(`details.${name}`))
  const types = listed('details.types', /,/)
  if (types.length > 0) details.types = types
  const dexIds = listed('details.dex_ids', /,/)
  if (dexIds.length > 0) details.dex_ids = dexIds.map(Number)
  return {
    name: text('name'),
    code: text('code') || null,
    genre: text('genre'),
    game: text('game'),
    category_id: Number(text('category_id')),
    images: listed('images', /\n/).map((url, order) => ({ url, order })),
    attributes: listed('attributes', /\n/).map((line) => {
      const [name = '', ...value] = line.split(':')
      return { name: name.trim(), value: value.join(':').trim() }
    }),
    details,
    ...(text('slug') && { slug: text('slug') }),
  }
}
