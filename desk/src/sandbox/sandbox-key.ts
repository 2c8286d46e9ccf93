// The test key of the sandbox in which this tab works: for the tab only, and never the live key.
import { sendAs } from '#ui/api.ts'

const NAME = 'mintmark-sandbox-key'

/** The key; null outside of a sandbox. */
export function sandboxKey(): string | null {
  try {
    return sessionStorage.getItem(NAME)
  } catch {
    return null
  }
}

/** Lets all pages of this tab work in the sandbox of a key, or outside again; what was loaded before is dropped. */
export function workIn(key: string | null): void {
  if (key === null) sessionStorage.removeItem(NAME)
  else sessionStorage.setItem(NAME, key)
  location.assign('/desk/sandbox')
}

/** Sends the requests of this tab to its sandbox; call it once, before the first request. */
export function startInSandbox(): void {
  sendAs(sandboxKey, () => workIn(null))
}
