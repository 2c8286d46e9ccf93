// The saved views of a list: choosing, saving, renaming and removing them.
import { useState } from 'preact/hooks'
import { useAddressQuery } from './address.ts'
import { valuesOf } from './dialog.tsx'
import { choicesOf, choose, type SavedView } from './stored.ts'
import { t } from './words.ts'

interface SavedViewsProps {
  /** key under which choices are stored */
  table: string
  /** prefix of the list's parameters in the address */
  prefix: string
  /** parameters that a view stores, by name without the prefix */
  values: Record<string, string>
}

type Submit = Event & { currentTarget: HTMLFormElement }

export function SavedViews({ table, prefix, values }: SavedViewsProps) {
  const { views, hidden } = choicesOf(table)
  const address = useAddressQuery()
  const [renamed, setRenamed] = useState<string | null>(null)
  const linkTo = (view: SavedView) => {
    const set = Object.keys(values).map((name) => [prefix + name, view.values[name] ?? ''])
    return address.link(Object.fromEntries([...set, [`${prefix}page`, '']]))
  }
  const save = (event: Submit) => {
    event.preventDefault()
    const { name } = valuesOf(event.currentTarget)
    if (!name) return
    const set = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''))
    choose(table, { views: [...views.filter((view) => view.name !== name), { name, values: set, hidden }] })
    event.currentTarget.reset()
  }
  const rename = (event: Submit, from: string) => {
    event.preventDefault()
    const { name } = valuesOf(event.currentTarget)
    if (!name) return
    choose(table, { views: views.map((view) => (view.name === from ? { ...view, name } : view)) })
    setRenamed(null)
  }
  return (
    <fieldset>
      <legend>{t('savedViews')}</legend>
      {views.length > 0 && (
        <ul>
          {views.map((view) =>
            view.name === renamed ? (
              <li key={view.name}>
                <form onSubmit={(event) => rename(event, view.name)}>
                  <NewName label={t('newViewName', { name: view.name })} value={view.name} taken={views} />
                  <button type="submit">{t('save')}</button>
                </form>
              </li>
            ) : (
              <li key={view.name}>
                <a href={linkTo(view)} onClick={() => view.hidden !== undefined && choose(table, { hidden: view.hidden })}>
                  {view.name}
                </a>
                <span>
                  <button type="button" class="plain" aria-label={t('renameView', { name: view.name })} onClick={() => setRenamed(view.name)}>
                    ✎
                  </button>
                  <button
                    type="button"
                    class="plain"
                    aria-label={t('removeView', { name: view.name })}
                    onClick={() => choose(table, { views: views.filter(({ name }) => name !== view.name) })}
                  >
                    ×
                  </button>
                </span>
              </li>
            ),
          )}
        </ul>
      )}
      <form onSubmit={save}>
        <input name="name" required maxLength={MAX_LENGTH} aria-label={t('viewName')} placeholder={t('viewName')} autocomplete="off" />
        <button type="submit">{t('saveView')}</button>
      </form>
    </fieldset>
  )
}

const MAX_LENGTH = 60

/** The name of another view is not valid: it would replace that view. */
function NewName({ label, value, taken }: { label: string; value: string; taken: readonly SavedView[] }) {
  const check = (input: HTMLInputElement) => {
    const name = input.value.trim()
    input.setCustomValidity(name !== value && taken.some((view) => view.name === name) ? t('viewNameTaken') : '')
  }
  return (
    <input
      ref={(input) => input?.focus()}
      name="name"
      required
      maxLength={MAX_LENGTH}
      aria-label={label}
      defaultValue={value}
      autocomplete="off"
      onInput={({ currentTarget }) => check(currentTarget)}
    />
  )
}
