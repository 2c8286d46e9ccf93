// A secret that is shown only once, with a button to copy it.
import { useState } from 'preact/hooks'
import { t } from './words.ts'
import { Dialog } from './dialog.tsx'

export function Secret({ title, value, onClose }: { title: string; value: string; onClose: () => void }) {
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(value)
      setCopied(true)
    } catch {
      // Without clipboard permission, the text can still be selected.
    }
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{t('shownOnce')}</p>
      <output class="secret">{value}</output>
      <div class="buttons">
        <button type="button" onClick={() => void copy()}>
          {copied ? t('copied') : t('copy')}
        </button>
        <button type="button" class="main" onClick={onClose}>
          {t('keptIt')}
        </button>
      </div>
    </Dialog>
  )
}
