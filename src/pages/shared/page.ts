// The page of a shared collection, as HTML without a script.
import { type Language, LANGUAGES } from '#http/language.ts'
import { escapeHtml } from '../content/html.ts'
import type { SharedView } from './shared-types.ts'
import { countIn, moneyIn, WORDS } from './words.ts'

export interface SharedPageFacts {
  collection: SharedView
  language: Language
  /** path of the page */
  path: string
  page: number
  lastPage: number
}

export function sharedPage({ collection, language, path, page, lastPage }: SharedPageFacts): string {
  const words = WORDS[language]
  const { name, description, worth, sets, items, items_count: records } = collection
  const other = LANGUAGES.find((one) => one !== language)!
  const address = (of: { page?: number; lang?: Language }) => escapeHtml(`${path}?lang=${of.lang ?? language}&page=${of.page ?? page}`)
  const value = worth.currencies.map(({ currency, value: amount }) => `<strong>${moneyIn(language, amount, currency)}</strong>`)
  const quiet = worth.without_value > 0 ? `<p class="quiet">${words.withoutValue(countIn(language, worth.without_value))}</p>` : ''
  const link = (to: number, rel: 'prev' | 'next', text: string) =>
    to < 1 || to > lastPage ? '' : `<a rel="${rel}" href="${address({ page: to })}">${text}</a>`
  const pages =
    lastPage < 2
      ? ''
      : pager(words.pages, [
          link(page - 1, 'prev', words.previous),
          words.page(countIn(language, page), countIn(language, lastPage)),
          link(page + 1, 'next', words.next),
        ])
  return framed(
    { title: name, language, isIndexed: collection.visibility === 'public' },
    `<nav aria-label="${words.other}"><a lang="${other}" hreflang="${other}" href="${address({ lang: other })}">${words.other}</a></nav>
<h1>${escapeHtml(name)}</h1>
${description === '' ? '' : `<p class="lead">${escapeHtml(description)}</p>`}
<section><h2>${words.worth}</h2>
<p class="worth">${value.length > 0 ? value.join(' ') : words.noWorth}</p>${quiet}
<img class="chart" src="${escapeHtml(path)}/worth.svg?lang=${language}" alt="${words.worthByDay}" width="640" height="240"></section>
${sets.length === 0 ? '' : `<section><h2>${words.sets}</h2><ul class="sets">${sets.map((set) => setRow(set, language)).join('')}</ul></section>`}
<section><h2>${words.cards}</h2><p class="quiet">${words.records(countIn(language, records))}</p>
${records === 0 ? `<p>${words.empty}</p>` : `<ul class="items">${items.map((item) => card(item, language)).join('')}</ul>`}
${pages}</section>`,
  )
}

/** The page of a link that leads nowhere. */
export function missingPage(language: Language): string {
  const words = WORDS[language]
  return framed({ title: words.notFound, language, isIndexed: false }, `<h1>${words.notFound}</h1><p>${words.notFoundText}</p>`)
}

function pager(label: string, parts: readonly string[]): string {
  return `<nav class="pages" aria-label="${label}">${parts.map((part) => `<span>${part}</span>`).join('')}</nav>`
}

function setRow({ name, owned, of, percent }: SharedView['sets'][number], language: Language): string {
  const counts = WORDS[language].ofCards(countIn(language, owned), countIn(language, of))
  const share = percent === null ? '' : ` · ${(percent / 100).toLocaleString(language, { style: 'percent', maximumFractionDigits: 1 })}`
  const label = escapeHtml(name)
  return `<li><span>${label}</span><span class="number">${counts}${share}</span><progress max="${Math.max(of, 1)}" value="${owned}" aria-label="${label}"></progress></li>`
}

function card({ name, label, quantity, picture, value }: SharedView['items'][number], language: Language): string {
  const image = picture === null ? '<span class="blank"></span>' : `<img src="${escapeHtml(picture)}" alt="" loading="lazy" width="245" height="342">`
  const facts = [label === null ? '' : escapeHtml(label), quantity > 1 ? `×${countIn(language, quantity)}` : ''].filter(Boolean).join(' · ')
  const amount = value === null ? '–' : moneyIn(language, value.amount, value.currency)
  return `<li>${image}<span class="title">${escapeHtml(name)}</span><span class="quiet">${facts}</span><span class="number">${amount}</span></li>`
}

function framed({ title, language, isIndexed }: { title: string; language: Language; isIndexed: boolean }, main: string): string {
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${isIndexed ? '' : '<meta name="robots" content="noindex">\n'}<title>${escapeHtml(title)} · Mintmark</title>
<style>${STYLE}</style>
</head>
<body>
<main>
${main}
</main>
</body>
</html>
`
}

const STYLE = `
:root { color-scheme: light dark; --accent: light-dark(#0a6b4e, #5fd3a8); --line: light-dark(#d9dedb, #37403c); --quiet: light-dark(#55605b, #a5b0ab); }
body { background: light-dark(#fff, #121715); color: light-dark(#1b211e, #e8ecea); }
* { box-sizing: border-box; } body { font: 1rem/1.5 system-ui, sans-serif; margin: 0; }
main { max-width: 60rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; overflow-wrap: anywhere; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: .5rem 0; color: var(--accent); } h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
a { color: var(--accent); } .lead { white-space: pre-line; } .quiet { color: var(--quiet); font-size: .9rem; }
.worth { display: flex; flex-wrap: wrap; gap: .3rem 1.5rem; font-size: 1.4rem; margin: 0; }
.chart { max-width: 100%; height: auto; } ul { list-style: none; margin: 0; padding: 0; }
.sets li { display: grid; grid-template-columns: 1fr auto; gap: .1rem 1rem; padding: .4rem 0; }
progress { grid-column: 1 / -1; width: 100%; accent-color: var(--accent); } .number { font-variant-numeric: tabular-nums; }
.items { display: grid; grid-template-columns: repeat(auto-fill, minmax(9rem, 1fr)); gap: 1rem; }
.items li { display: flex; flex-direction: column; gap: .1rem; border: 1px solid var(--line); border-radius: 8px; padding: .6rem; min-width: 0; }
.items img, .blank { width: 100%; height: auto; aspect-ratio: 245 / 342; object-fit: contain; border-radius: 6px; background: var(--line); }
.title { font-weight: 600; } .pages { display: flex; flex-wrap: wrap; gap: .3rem 1.2rem; margin-top: 1.2rem; }`
