// Developer home page at `/` of the public listener: the service, its plans and a first request to copy.
import { escapeHtml } from './content/html.ts'
import { type Plan, PLAN_NAMES, PLANS } from '#core/plans.ts'

export interface HomeFacts {
  /** address of the service as the reader's browser uses it */
  url: string
  /** the demo's key; null outside the demo */
  demoKey: string | null
  /** requests per minute by plan; null for no limits */
  rateLimits: Record<Plan, number> | null
}

const OFFERS: Record<Plan, string> = {
  starter: 'Search items and read prices, with reduced fields',
  professional: 'All item fields, over REST and GraphQL, and the price history',
  plus: 'Adds the marketplace, collections and webhooks',
  enterprise: 'Same as Plus, with higher limits',
}

/** The page as HTML; it needs no script. */
export function homePage({ url, demoKey, rateLimits }: HomeFacts): string {
  const key = demoKey ?? 'YOUR_API_KEY'
  const plans = PLANS.map((plan) => {
    return `<tr><th scope="row">${PLAN_NAMES[plan]}</th><td>${OFFERS[plan]}</td><td class="number">${rateLimits ? rateLimits[plan].toLocaleString('en') : 'no limit'}</td></tr>`
  })
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Mintmark: trading card prices</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Mintmark</h1>
<p class="lead">Prices of trading cards and sealed products by condition and grade, from several sources, over REST and GraphQL;
a marketplace, collections and webhooks for sellers.</p>
<nav aria-label="Documentation">
<a href="/docs/guides">Guides</a> <a href="/desk">Seller's desk</a> <a href="/docs">REST reference</a> <a href="/graphql">GraphiQL</a> <a href="/openapi.json">OpenAPI document</a> <a href="/docs/guides/changelog">Changelog</a>
</nav>
${demoKey ? '<p class="note">This is a demo with a sample catalogue and made-up prices. The key below works.</p>' : ''}
<h2>A first request</h2>
${example('curl', `KEY=${key}\ncurl -H "Authorization: Bearer $KEY" \\\n  '${url}/api/v1/items/search?q=charizard'`)}
${example(
  'TypeScript',
  `const key = '${key}'
const url = '${url}/api/v1/items/search?q=charizard'
const response = await fetch(url, { headers: { authorization: \`Bearer \${key}\` } })
const { data } = await response.json()
console.log(data[0].name, data[0].prices)`,
)}
${example(
  'Python',
  `import json, urllib.request

key = '${key}'
url = '${url}/api/v1/items/search?q=charizard'
request = urllib.request.Request(url, headers={'Authorization': f'Bearer {key}'})
with urllib.request.urlopen(request) as response:
    item = json.load(response)['data'][0]
print(item['name'], item['prices'])`,
)}
${example(
  'GraphQL',
  `KEY=${key}
curl -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
  '${url}/graphql' -d '{"query":
  "{ items(search: \\"charizard\\", first: 3) { nodes { name code prices { label price currency } } } }"}'`,
)}
<h2>Plans</h2>
<table>
<thead><tr><th scope="col">Plan</th><th scope="col">What you get</th><th scope="col" class="number">Requests per minute</th></tr></thead>
<tbody>${plans.join('')}</tbody>
</table>
<p>Errors state the reason: <code>{"success": false, "error": {"code", "message"}}</code>. Every response has an
<code>X-Request-Id</code>; include it when you report a problem.</p>
</main>
</body>
</html>
`
}

function example(title: string, code: string): string {
  return `<figure><figcaption>${title}</figcaption><pre><code>${escapeHtml(code)}</code></pre></figure>`
}

const STYLE = `
:root { color-scheme: light dark; --accent: light-dark(#0a6b4e, #5fd3a8); --line: light-dark(#d9dedb, #37403c); --quiet: light-dark(#55605b, #a5b0ab); }
body { font: 1rem/1.55 system-ui, sans-serif; margin: 0; }
main { max-width: 46rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1 { font-size: 2.2rem; margin: 0; color: var(--accent); } h2 { font-size: 1.2rem; margin: 2.2rem 0 .6rem; }
.lead { font-size: 1.15rem; margin: .4rem 0 1rem; } .note { border-left: 3px solid var(--accent); padding: .3rem .8rem; }
nav { display: flex; flex-wrap: wrap; gap: .4rem 1.2rem; } a { color: var(--accent); }
figure { margin: 0 0 1rem; } figcaption { color: var(--quiet); font-size: .9rem; }
pre { margin: .2rem 0 0; padding: .8rem 1rem; white-space: pre-wrap; overflow-wrap: anywhere; border: 1px solid var(--line); border-radius: 6px; font-size: .85rem; }
table { border-collapse: collapse; width: 100%; } th, td { text-align: left; padding: .45rem .8rem .45rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
.number { font-variant-numeric: tabular-nums; text-align: right; padding-right: 0; }
@media (max-width: 30rem) { table { font-size: .9rem; } th, td { padding-right: .5rem; } }
`
