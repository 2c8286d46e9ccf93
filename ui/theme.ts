// Light, dark or system theme; stored in the browser.
import { effect, signal } from '@preact/signals'

export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

const STORAGE_KEY = 'mintmark-theme'

export const theme = signal<Theme>(firstTheme())
/** Changes whenever colours do, so that charts redraw. */
export const colours = signal(0)

effect(() => {
  document.documentElement.dataset.theme = theme.value
  colours.value = colours.peek() + 1
})
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
  colours.value += 1
})

export function chooseTheme(next: Theme): void {
  theme.value = next
  localStorage.setItem(STORAGE_KEY, next)
}

function firstTheme(): Theme {
  const kept = localStorage.getItem(STORAGE_KEY)
  return THEMES.find((known) => known === kept) ?? 'system'
}
