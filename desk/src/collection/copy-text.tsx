// A text to copy into other programs, with a button that copies it.
import { useRef, useState } from 'preact/hooks'
import { Field } from '#ui/dialog.tsx'
import { t } from '../words.ts'

interface CopyTextProps {
  label: string
  text: string
  hint?: string
}

export function CopyText({ label, text, hint }: CopyTextProps) {
  const area = useRef<HTMLTextAreaElement>(null)
  const [copied, setCopied] = useState('')
  const copy = async () => {
    area.current?.select()
    try {
      await navigator.clipboard.writeText(text)
      setCopied(text)
    } catch {
      // Without clipboard permission, the text is now selected.
    }
  }
  return (
    <div class="copy-text">
      <Field label={label} {...(hint !== undefined && { hint })}>
        <textarea ref={area} readOnly rows={Math.ceil(text.length / 60)} spellcheck={false} value={text} />
      </Field>
      <button type="button" aria-label={`${t('copy')}: ${label}`} onClick={() => void copy()}>
        {t('copy')}
      </button>
      <span role="status" class="quiet">
        {copied === text && t('copied')}
      </span>
    </div>
  )
}
