// Dialogs: forms that write, and confirmations before destructive steps. Native, so that focus and Escape just work.
import { signal } from '@preact/signals'
import { cloneElement, type ComponentChildren, type VNode } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import type { ApiError } from './api.ts'
import { t } from './words.ts'
import { Refusal } from './states.tsx'

interface DialogProps {
  title: string
  onClose: () => void
  children: ComponentChildren
}

export function Dialog({ title, onClose, children }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    ref.current?.showModal()
    // By default, the browser would focus the close button.
    ref.current?.querySelector<HTMLElement>('input, select, textarea, [data-first="true"]')?.focus()
  }, [])
  return (
    <dialog ref={ref} aria-labelledby={id} onClose={onClose}>
      <header>
        <h2 id={id}>{title}</h2>
        <button type="button" class="plain" aria-label={t('close')} onClick={() => ref.current?.close()}>
          ×
        </button>
      </header>
      {children}
    </dialog>
  )
}

/** Values of a form by field name, trimmed. */
export type Values = Record<string, string>

export function valuesOf(form: HTMLFormElement): Values {
  return Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, typeof value === 'string' ? value.trim() : '']))
}

interface FormProps {
  submit: string
  busy: boolean
  error: ApiError | null
  danger?: boolean
  onSubmit: (values: Values) => void
  /** called with each keystroke and choice */
  onEdit?: (values: Values) => void
  onCancel?: () => void
  children: ComponentChildren
}

/** A form that shows errors above its buttons. */
export function Form({ submit, busy, error, danger, onSubmit, onEdit, onCancel, children }: FormProps) {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (!busy) onSubmit(valuesOf(event.currentTarget))
      }}
      onInput={({ currentTarget }) => onEdit?.(valuesOf(currentTarget))}
    >
      {children}
      <Refusal error={error} />
      <div class="buttons">
        {onCancel && (
          <button type="button" data-first={danger === true} onClick={onCancel}>
            {t('cancel')}
          </button>
        )}
        <button type="submit" class={danger ? 'danger' : 'main'} data-first={!danger} disabled={busy}>
          {busy ? t('working') : submit}
        </button>
      </div>
    </form>
  )
}

interface FieldProps {
  label: string
  hint?: string
  /** form control */
  children: VNode<{ 'aria-describedby'?: string }>
}

export function Field({ label, hint, children }: FieldProps) {
  const id = useId()
  return (
    <div class="field">
      {/* biome-ignore lint/a11y/noLabelWithoutControl: the control is passed as a child */}
      <label>
        <span>{label}</span>
        {hint ? cloneElement(children, { 'aria-describedby': id }) : children}
      </label>
      {hint && <small id={id}>{hint}</small>}
    </div>
  )
}

interface Question {
  title: string
  text: string
  /** what it concerns, below the text */
  details?: ComponentChildren
  action: string
  /** default: true; for steps that cannot be undone or should not happen by accident */
  danger?: boolean
  answer: (yes: boolean) => void
}

const question = signal<Question | null>(null)

/** Asks for confirmation before a destructive or large step; resolves with the answer. */
export function confirm(newQuestion: Omit<Question, 'answer'>): Promise<boolean> {
  return new Promise((resolve) => {
    question.value = {
      ...newQuestion,
      answer: (yes) => {
        question.value = null
        resolve(yes)
      },
    }
  })
}

export function ConfirmationDialog() {
  const open = question.value
  if (!open) return null
  return (
    <Dialog title={open.title} onClose={() => open.answer(false)}>
      <Form
        submit={open.action}
        danger={open.danger ?? true}
        busy={false}
        error={null}
        onSubmit={() => open.answer(true)}
        onCancel={() => open.answer(false)}
      >
        <p>{open.text}</p>
        {open.details}
      </Form>
    </Dialog>
  )
}
