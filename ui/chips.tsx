// The active filters as chips; a click, Delete or Backspace removes one.
import { useRef } from 'preact/hooks'
import type { Filter } from './list-parts.ts'
import { useNameOf } from './picker.tsx'
import { t } from './words.ts'

interface ChipsProps {
  filters: Filter[]
  values: Record<string, string>
  remove: (names: string[]) => void
}

export function Chips({ filters, values, remove }: ChipsProps) {
  const list = useRef<HTMLUListElement>(null)
  const set = filters.filter(({ name, always }) => !always && values[name])
  if (set.length === 0) return null
  const removeOne = (name: string, index: number) => {
    remove([name])
    // Focus stays among the chips as long as there are any.
    requestAnimationFrame(() => {
      const left = list.current?.querySelectorAll('button')
      left?.[Math.min(index, left.length - 1)]?.focus()
    })
  }
  return (
    <ul ref={list} class="chips" aria-label={t('filters')}>
      {set.map((filter, index) => (
        <li key={filter.name}>
          <Chip filter={filter} value={values[filter.name]!} onRemove={() => removeOne(filter.name, index)} />
        </li>
      ))}
      {set.length > 1 && (
        <li>
          <button type="button" class="plain" onClick={() => remove(set.map(({ name }) => name))}>
            {t('clearFilters')}
          </button>
        </li>
      )}
    </ul>
  )
}

function Chip({ filter: { label, options, picker }, value, onRemove }: { filter: Filter; value: string; onRemove: () => void }) {
  const name = useNameOf(picker, value)
  const text = picker ? (name ?? '…') : (options?.find((option) => option.value === value)?.text ?? value)
  return (
    <button
      type="button"
      onClick={onRemove}
      onKeyDown={(event) => {
        if (event.key !== 'Delete' && event.key !== 'Backspace') return
        event.preventDefault()
        onRemove()
      }}
    >
      {label}: <strong>{text}</strong> <span class="hidden">{t('removeFilter')}</span> <span aria-hidden="true">×</span>
    </button>
  )
}
