// Origins of web pages, as browsers send them in the header Origin.

/** Whether a text is an origin as browsers send it: no path, trailing slash, default port or capital letters. */
export function isOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text
}
