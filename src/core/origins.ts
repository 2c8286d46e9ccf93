// Origins of web pages, as browsers send them in the header Origin.

/** Whether a text is an origin as browsers send it: without path, slash at the end, default port and capital letters. */
export function isOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text
}
