// The frame of a page of the documentation: header with search, navigation and the article.
import { escapeHtml } from './html.ts'

/** Path of the guides, their search and the files of the frame. */
export const GUIDES_PATH = '/docs/guides'

export const PAGE_POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

export interface NavigationLink {
  path: string
  title: string
  isCurrent?: boolean
}

export interface Frame {
  title: string
  /** of the article; English by default */
  language?: 'en' | 'tr'
  /** groups of links */
  navigation: readonly (readonly NavigationLink[])[]
  /** HTML */
  article: string
}

/** The page as HTML; without its script, all code is visible and only the search is missing. */
export function framed({ title, language = 'en', navigation, article }: Frame): string {
  const link = ({ path, title: text, isCurrent }: NavigationLink) =>
    `<li><a href="${path}"${isCurrent ? ' aria-current="page"' : ''}>${escapeHtml(text)}</a></li>`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Mintmark</title>
<link rel="stylesheet" href="${GUIDES_PATH}/assets/guides.css">
<script src="${GUIDES_PATH}/assets/guides.js" defer></script>
</head>
<body>
<header>
<a class="home" href="/">Mintmark</a>
<form role="search" hidden><label for="search">Search the documentation</label> <input id="search" type="search" autocomplete="off"></form>
</header>
<nav aria-label="Documentation">${navigation.map((links) => `<ul>${links.map(link).join('')}</ul>`).join('\n')}</nav>
<main>
<section id="found" aria-label="Search results" aria-live="polite" hidden></section>
<article lang="${language}">${article}</article>
</main>
</body>
</html>
`
}

/** Inserts an address in place of the documented one, and the demo's key, so that requests work as pasted. */
export function filledIn(html: string, { documented, url, demoKey }: { documented: string; url: string; demoKey: string | null }): string {
  const addressed = html.replaceAll(documented, escapeHtml(url))
  if (demoKey === null) return addressed
  return addressed.replaceAll(/YOUR_API_KEY|&lt;API_KEY&gt;|\$API_KEY|\$KEY\b|(?<=KEY=)mintmark_\.\.\./g, demoKey)
}
