// The pages of the shop. All texts are here.
import type { Image, Item, Listing, Pagination, Price, PriceChartRange } from '@mintmark/client'
import { MAX_QUANTITY } from './basket.ts'
import { chartOf } from './chart.ts'
import { totalKurus } from './checkout.ts'
import { html, type Html } from './html.ts'
import { kurusOf, lira, money } from './money.ts'
import type { Card, CheckedLine, Shop } from './shop.ts'

export const MAX_QUERY = 200
/** Pictures of results that a phone shows at first; the others are loaded when they come into view. */
const EAGER_PICTURES = 2
const RANGES: Record<PriceChartRange, string> = { '1m': '1 month', '3m': '3 months', '1y': '1 year', all: 'All' }
export const isRange = (text: string): text is PriceChartRange => Object.hasOwn(RANGES, text)

const cardPath = (id: number) => `/cards/${id}`
const searchPath = (q: string, page: number) => `/?${new URLSearchParams({ q, page: String(page) }).toString()}`
const sellerPath = (name: string, page = 1) => `/sellers?${new URLSearchParams({ name, page: String(page) }).toString()}`

/** @param style and `script`: their texts, which are part of the page exactly as they are */
export function layout(title: string, content: Html, style: string, script: string): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title} · Card shop</title>
<link rel="icon" href="data:,"><style>${{ markup: style }}</style><script type="module">${{ markup: script }}</script>
</head>
<body>
<header><nav aria-label="Shop"><a href="/">Card shop</a> <a href="/sellers">Sellers</a> <a href="/basket">Basket</a></nav></header>
<main>${content}</main>
</body></html>
`
}

/** @param id of the field's element */
function field(id: string, label: string, name: string, value: string, button: string): Html {
  return html`<label for="${id}">${label}</label>
<div class="field"><input type="search" id="${id}" name="${name}" value="${value}" maxlength="${MAX_QUERY}" autocomplete="off">
<button>${button}</button></div>`
}

export function homePage(q: string, content: Html): Html {
  return html`<h1>Find a card</h1>
<form id="search" action="/" role="search">${field('q', 'Name, set or number', 'q', q, 'Search')}</form>
${content}`
}

/** Also the fragment that the script inserts while the buyer types. */
export function results(q: string, found: Awaited<ReturnType<Shop['search']>> | null): Html {
  if (!found) return html`<p id="count" role="status">${q !== '' && 'Enter at least two characters.'}</p><div id="results"></div>`
  const { total } = found.pagination
  return html`<p id="count" role="status">${total === 1 ? '1 card' : `${total} cards`} for “${q}”</p>
<div id="results"><ul class="cards">${found.data.map(
    (item, i) => html`<li>${picture(item.images, '', i < EAGER_PICTURES)}
<h2><a href="${cardPath(item.id)}">${item.name}</a></h2>
<p>${[item.category.name, item.code].filter(Boolean).join(' · ')}</p>
<dl>${item.prices.map((price) => html`<div><dt>${price.label}</dt><dd>${amountOf(price)}</dd></div>`)}</dl></li>`,
  )}</ul>${pageLinks(found.pagination, (page) => searchPath(q, page))}</div>`
}

export const latestOffers = (listings: readonly Listing[]): Html =>
  html`<section id="latest"><h2>Latest offers</h2>${offersTable(listings)}</section>`

function amountOf({ price, currency, state }: Price): string {
  const amount = currency === undefined ? String(price) : money(price, currency)
  return state === undefined || state === 'trusted' ? amount : `${amount} (${state})`
}

function picture(images: readonly Image[] | undefined, alt: string, eager: boolean): Html {
  const url = images?.find((image) => /^https?:\/\//.test(image.url))?.url
  if (url === undefined) return html`<div class="picture">${alt === '' ? null : 'No picture'}</div>`
  return html`<img class="picture" src="${url}" alt="${alt}" width="250" height="350" ${eager ? html`fetchpriority="high"` : html`loading="lazy"`}>`
}

/** @param sellerOf names of sellers by listing, on the page of the listings' card */
function offersTable(listings: readonly Listing[], sellerOf?: ReadonlyMap<number, string>): Html {
  if (listings.length === 0) return html`<p>Nothing is for sale at the moment.</p>`
  const sellerCell = (seller: string | undefined) =>
    html`<td>${seller === undefined ? 'Marketplace' : html`<a href="${sellerPath(seller)}">${seller}</a>`}</td>`
  const row = ({ id, title, price, grade, quantity, item }: Listing) => html`<tr>
<th scope="row">${sellerOf || !item ? title : html`<a href="${cardPath(item.id)}">${title}</a>`}</th>
<td>${grade?.label ?? 'Not stated'}</td><td class="number">${lira(kurusOf(price))}</td><td class="number">${quantity}</td>
${sellerOf && sellerCell(sellerOf.get(id))}
<td><form method="post" action="/basket"><button name="listing" value="${id}" aria-label="Add to basket: ${title}">Add to basket</button></form></td>
</tr>\n`
  return html`<div class="wide" tabindex="0" role="region" aria-label="Offers"><table>
<thead><tr><th scope="col">Offer</th><th scope="col">Condition</th><th scope="col" class="number">Price</th>
<th scope="col" class="number">In stock</th>${sellerOf && html`<th scope="col">Seller</th>`}<td></td></tr></thead>
<tbody>${listings.map(row)}</tbody></table></div>`
}

export function cardPage({ item, markets, chart, offers, sellerOf }: Card, range: PriceChartRange): Html {
  const more = (item.images ?? []).slice(1)
  const facts = [item.category.name, item.code, ...(item.attributes ?? []).map(({ value }) => value)]
  const nameOf = new Map<string, string>(markets.map(({ market }) => [market.code, market.name]))
  return html`<div class="card">
<div>${picture(item.images, `${item.name} ${item.code ?? ''}`.trim(), true)}${more.map((image) => picture([image], '', false))}</div>
<div><h1>${item.name}</h1>
<p>${[...new Set(facts)].filter(Boolean).join(' · ')}</p>
<h2>Prices</h2>${pricesTable(markets)}</div></div>
<h2>Offers</h2>${offersTable(offers, sellerOf)}
${
  chart &&
  html`<h2>Price history: ${chart.label}</h2>
<form class="row" action="${cardPath(item.id)}">
${select('label', 'Condition', chart.label, Object.fromEntries(chart.labels.map((label) => [label, label])))}
${select('range', 'Range', range, RANGES)} <button>Show</button></form>
${chartOf(chart, nameOf)}`
}`
}

function select(name: string, label: string, value: string, options: Record<string, string>): Html {
  return html`<label>${label} <select name="${name}">${Object.entries(options).map(
    ([key, text]) => html`<option value="${key}"${key === value && html` selected`}>${text}</option>`,
  )}</select></label>`
}

function pricesTable(markets: Card['markets']): Html {
  if (markets.length === 0) return html`<p>No market has a price.</p>`
  const labels = [...new Set(markets.flatMap(({ item }) => item.prices.map(({ label }) => label)))]
  const cell = (item: Item, ofLabel: string) => {
    const found = item.prices.find(({ label }) => label === ofLabel)
    return html`<td class="number">${found && amountOf(found)}</td>`
  }
  return html`<div class="wide" tabindex="0" role="region" aria-label="Prices"><table>
<thead><tr><th scope="col">Condition</th>${markets.map(({ market }) => html`<th scope="col" class="number">${market.name}</th>`)}</tr></thead>
<tbody>${labels.map((label) => html`<tr><th scope="row">${label}</th>${markets.map(({ item }) => cell(item, label))}</tr>`)}</tbody></table></div>`
}

/** @param found null without a name */
export function sellersPage(name: string, sellers: readonly string[], found: Awaited<ReturnType<Shop['listings']>> | null): Html {
  const link = (seller: string) => html`<li><a href="${sellerPath(seller)}">${seller}</a></li>`
  return html`<h1>${found ? `Offers of ${sellers.includes(name) ? name : `sellers called “${name}”`}` : 'Sellers'}</h1>
<form action="/sellers" role="search">${field('name', 'Name of a seller', 'name', name, 'Show offers')}</form>
${found ? offersTable(found.data) : html`<ul>${sellers.map(link)}</ul>`}
${found && pageLinks(found.pagination, (page) => sellerPath(name, page))}`
}

function pageLinks({ current_page: at, last_page: last }: Pagination, pathOf: (page: number) => string): Html | false {
  const link = (page: number, text: string) => page >= 1 && page <= last && html`<a href="${pathOf(page)}">${text}</a>`
  return last > 1 && html`<nav aria-label="Pages">Page ${at} of ${last} ${link(at - 1, 'Previous')} ${link(at + 1, 'Next')}</nav>`
}

/** @param canCheckOut whether the shop has a checkout */
export function basketPage(lines: readonly CheckedLine[], canCheckOut: boolean): Html {
  const changes = lines.flatMap((line) => line.changes)
  const left = lines.flatMap(({ listing, quantity }) => (listing ? [{ listing, quantity }] : []))
  const row = ({ listing: { id, title, price, item, grade }, quantity }: (typeof left)[number]) => html`<tr>
<th scope="row">${item ? html`<a href="${cardPath(item.id)}">${title}</a>` : title}</th><td>${grade?.label}</td>
<td class="number">${lira(kurusOf(price))}</td>
<td><input type="number" name="quantity-${id}" value="${quantity}" min="1" max="${MAX_QUANTITY}" required aria-label="Quantity of ${title}"></td>
<td class="number">${lira(kurusOf(price) * quantity)}</td>
<td><button form="remove" name="remove" value="${id}" aria-label="Remove ${title}">Remove</button></td></tr>`
  return html`<h1>Basket</h1>
${changes.length > 0 && html`<div class="notice" role="alert"><ul>${changes.map((change) => html`<li>${change}</li>`)}</ul></div>`}
${
  left.length === 0
    ? html`<p>The basket is empty.</p>`
    : html`<form method="post" action="/basket"><div class="wide" tabindex="0" role="region" aria-label="Lines"><table>
<thead><tr><th scope="col">Offer</th><th scope="col">Condition</th><th scope="col" class="number">Price</th><th scope="col">Quantity</th>
<th scope="col" class="number">Sum</th><td></td></tr></thead>
<tbody>${left.map(row)}</tbody></table></div>
<p class="row">Total: <strong>${lira(totalKurus(lines))}</strong> <button name="update" value="1">Update quantities</button></p></form>
<form id="remove" method="post" action="/basket"></form>
${canCheckOut ? html`<form method="post" action="/checkout"><button>Check out</button></form>` : html`<p>This shop has no checkout yet.</p>`}`
}`
}

export function messagePage(title: string, text: string): Html {
  return html`<h1>${title}</h1><p>${text}</p><p><a href="/">Search for cards</a></p>`
}
