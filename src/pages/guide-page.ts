// The page of a guide: navigation, search and the article.
import { escapeHtml } from './html.ts'
import { type Guide, GUIDES_PATH } from './guides.ts'

export interface GuideFacts {
  guide: Guide
  all: Iterable<Guide>
  /** address of the service as the reader's browser uses it */
  url: string
  /** the demo's key, inserted into examples; null outside the demo */
  demoKey: string | null
}

/** The page as HTML; without its script, all code is visible and only the search is missing. */
export function guidePage({ guide, all, url, demoKey }: GuideFacts): string {
  const links = Array.from(all, ({ name, title }) => {
    const current = name === guide.name ? ' aria-current="page"' : ''
    return `<li><a href="${GUIDES_PATH}/${name}"${current}>${escapeHtml(title)}</a></li>`
  })
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(guide.title)} · Mintmark</title>
<link rel="stylesheet" href="${GUIDES_PATH}/assets/guides.css">
<script src="${GUIDES_PATH}/assets/guides.js" defer></script>
</head>
<body>
<header>
<a class="home" href="/">Mintmark</a>
<form role="search" hidden><label for="search">Search the guides</label> <input id="search" type="search" autocomplete="off"></form>
</header>
<nav aria-label="Guides"><ul>${links.join('')}</ul>
<ul><li><a href="/docs">REST reference</a></li><li><a href="/graphql">GraphiQL</a></li><li><a href="${GUIDES_PATH}/${guide.name}.md">This page as Markdown</a></li></ul></nav>
<main>
<section id="found" aria-label="Search results" aria-live="polite" hidden></section>
<article>${filledIn(guide.html, url, demoKey)}</article>
</main>
</body>
</html>
`
}

/** Inserts address and key, so that requests work as pasted. */
function filledIn(html: string, url: string, demoKey: string | null): string {
  const addressed = html.replaceAll('http://127.0.0.1:8080', escapeHtml(url))
  if (demoKey === null) return addressed
  return addressed.replaceAll(/YOUR_API_KEY|\$API_KEY|\$KEY\b|(?<=KEY=)mintmark_\.\.\./g, demoKey)
}
