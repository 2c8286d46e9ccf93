// Short messages at the edge of the page about what was done or why it failed. Read out by screen readers.
import { signal } from '@preact/signals'
import { t } from './words.ts'

interface Toast {
  id: number
  text: string
  tone: 'good' | 'bad'
  action?: ToastAction | undefined
}

/** An action offered with the message, such as undo. */
export interface ToastAction {
  text: string
  run: () => void
  /** milliseconds for which it is offered */
  for: number
}

const toasts = signal<Toast[]>([])
let lastId = 0

/** Success messages disappear by themselves; errors stay until they are dismissed. */
export function announce(text: string, tone: Toast['tone'] = 'good', action?: ToastAction): void {
  const id = ++lastId
  toasts.value = [...toasts.value.slice(-3), { id, text, tone, action }]
  if (tone === 'good') setTimeout(() => dismiss(id), action?.for ?? 5_000)
}

function dismiss(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id)
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, tone, action }) => (
        <div key={id} class={`toast ${tone}`}>
          <span>{text}</span>
          {action && (
            <button
              type="button"
              onClick={() => {
                dismiss(id)
                action.run()
              }}
            >
              {action.text}
            </button>
          )}
          <button type="button" class="plain" aria-label={t('close')} onClick={() => dismiss(id)}>
            ×
          </button>
        </div>
      ))}
    </div>
  )
}
