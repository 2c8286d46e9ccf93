// A form for one CSV file, without the native file button, whose text is in the browser's language.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { ApiError } from './api.ts'
import { Form, type Values } from './dialog.tsx'
import { t } from './words.ts'

interface FileFormProps {
  label: string
  hint: string
  submit: string
  busy: boolean
  error: ApiError | null
  onSubmit: (file: File, values: Values) => void
  /** file types to choose from; CSV by default */
  accept?: string
  /** null if the person removes the chosen file */
  onChoose?: (file: File | null) => void
  /** additional fields */
  children?: ComponentChildren
}

export function FileForm({ label, hint, submit, busy, error, accept = '.csv,text/csv', onSubmit, onChoose, children }: FileFormProps) {
  const [file, setFile] = useState<File | null>(null)
  return (
    <section class="panel settings">
      <Form submit={submit} busy={busy} error={error} onSubmit={(values) => file && onSubmit(file, values)}>
        <label class="files">
          <strong>{label}</strong>
          <span class="quiet">{hint}</span>
          <span class="button" aria-hidden="true">
            {file ? file.name : t('chooseFile')}
          </span>
          <input
            class="hidden"
            type="file"
            accept={accept}
            required
            onChange={({ currentTarget: { files } }) => {
              const chosen = files?.[0] ?? null
              setFile(chosen)
              onChoose?.(chosen)
            }}
          />
        </label>
        {children}
      </Form>
    </section>
  )
}
