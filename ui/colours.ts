// Tells charts when the colours of the page change.
import { signal } from '@preact/signals'

/** Changes whenever colours do, so that charts redraw. */
export const colours = signal(0)

matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
  colours.value += 1
})
