// The reader's preferences in the browser's storage, which embedded pages may not be allowed to use.

/** null if there is none, or no storage */
export function storedPreference(key: string): string | null {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}

/** Without storage, the preference lasts until the page is closed. */
export function storePreference(key: string, value: string): void {
  try {
    localStorage.setItem(key, value)
  } catch {
    // Nothing depends on it.
  }
}
