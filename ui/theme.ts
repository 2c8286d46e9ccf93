// Light, dark or system theme; stored in the browser.
import { effect, signal } from '@preact/signals'
import { colours } from './colours.ts'
import { storedPreference, storePreference } from './preferences.ts'

export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

const STORAGE_KEY = 'mintmark-theme'

export const theme = signal<Theme>(firstTheme())
effect(() => {
  document.documentElement.dataset.theme = theme.value
  colours.value = colours.peek() + 1
})

export function chooseTheme(next: Theme): void {
  theme.value = next
  storePreference(STORAGE_KEY, next)
}

function firstTheme(): Theme {
  const stored = storedPreference(STORAGE_KEY)
  return THEMES.find((name) => name === stored) ?? 'system'
}
