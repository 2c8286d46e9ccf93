// An id that a click copies.
import { announce } from './toasts.tsx'
import { t } from './words.ts'

export function Id({ value }: { value: number | string }) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(String(value))
      announce(t('idCopied', { id: String(value) }))
    } catch {
      // Without clipboard permission, the text can still be selected.
    }
  }
  return (
    <button type="button" class="plain id" title={t('copy')} aria-label={t('copyId', { id: String(value) })} onClick={() => void copy()}>
      {value}
    </button>
  )
}
