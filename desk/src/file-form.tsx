// A form for one CSV file, without the native file button, whose text is in the browser's language.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { ApiError } from '#ui/api.ts'
import { Form, type Values } from '#ui/dialog.tsx'
import { t } from './words.ts'

interface FileFormProps {
  label: string
  hint: string
  submit: string
  busy: boolean
  error: ApiError | null
  onSubmit: (file: File, values: Values) => void
  /** null if the person removes the chosen file */
  onChoose?: (file: File | null) => void
  /** additional fields */
  children?: ComponentChildren
}

export function FileForm({ label, hint, submit, busy, error, onSubmit, onChoose, children }: FileFormProps) {
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
            accept=".csv,text/csv"
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
