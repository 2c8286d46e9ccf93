// Paths outside the OpenAPI documents, GraphQL and the Model Context Protocol: pages, documents, health, console, metrics.
import type { Operation, Parameter } from './bad-input-rest.ts'

/** As registered, with valid values for the path parameters. */
const PUBLIC: Readonly<Record<string, readonly string[]>> = {
  '/': [],
  '/openapi.json': [],
  '/health/live': [],
  '/health/ready': [],
  '/changelog': [],
  '/llms.txt': [],
  '/client.js': [],
  '/price-chart.js': [],
  '/docs': [],
  '/docs/': [],
  '/docs/reference/:name': ['catalogue', 'rules', 'nothing'],
  '/docs/guides': [],
  '/docs/guides/search.json': [],
  '/docs/guides/assets/:name': ['guides.css', 'guides.js'],
  '/docs/guides/files/*': ['client/README.md', 'docs/operating.md'],
  '/docs/guides/:name': ['api-guide', 'api-guide.md', 'changelog'],
  '/graphql/assets/*': ['nothing.js'],
  '/desk': [],
  '/desk/*': ['index.html', 'assets/nothing.js', 'listings/1'],
  '/desk/session': [],
  '/sample/pictures/*': ['nothing.svg'],
  '/shared/:token': ['0123456789abcdef0123456789abcdef', 'nothing'],
  '/shared/:token/worth.svg': ['0123456789abcdef0123456789abcdef'],
  '/images/photos/:key/:file': ['0123456789abcdef0123456789abcdef', '320.webp', 'nothing'],
}
const OPERATOR: Readonly<Record<string, readonly string[]>> = {
  '/': [],
  '/openapi.json': [],
  '/docs': [],
  '/docs/': [],
  '/docs/reference/:name': ['price-reviews', 'rules', 'nothing'],
  '/docs/guides': [],
  '/docs/guides/search.json': [],
  '/docs/guides/assets/:name': ['guides.css', 'guides.js'],
  '/docs/guides/files/*': ['client/README.md', 'docs/operating.md'],
  '/docs/guides/:name': ['operating', 'operating.md', 'changelog'],
  '/operator/openapi.json': [],
  '/metrics': [],
  '/console': [],
  '/console/*': ['index.html', 'assets/nothing.js', 'catalogue/items/1'],
  '/console/session': [],
  '/console/password': [],
  '/console/two-factor': [],
  '/console/two-factor/confirm': [],
}
/** Field with the credential that opens a session of console or desk; sessions are also closed. */
const SESSIONS: Readonly<Record<string, string>> = { '/console/session': 'token', '/desk/session': 'key' }
/** Paths that accept POST only within a session, each with one of its fields. */
const POSTED: Readonly<Record<string, string>> = {
  '/console/password': 'password',
  '/console/two-factor': 'password',
  '/console/two-factor/confirm': 'code',
}

/** Paths outside the documents, as operations; `*` matches the rest of a path. */
export function openOperations({ publicUrl, operatorUrl }: { publicUrl: string; operatorUrl: string }): Operation[] {
  const of = (url: string, group: string, paths: typeof PUBLIC): Operation[] =>
    Object.entries(paths).flatMap(([path, values]) =>
      (path in SESSIONS ? ['GET', 'POST', 'DELETE'] : path in POSTED ? ['POST'] : ['GET']).map((method): Operation => {
        const filled = path.replace(/:(\w+)|\*/g, (_all, name?: string) => `{${name ?? 'rest'}}`)
        const parameters: Parameter[] = [...filled.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
          name: name!,
          in: 'path',
          schema: { type: 'string', enum: [...values] },
        }))
        return {
          group,
          url,
          method,
          path: filled,
          parameters,
          body: method === 'POST' ? withField((SESSIONS[path] ?? POSTED[path])!) : null,
          fields: [],
        }
      }),
    )
  return [...of(publicUrl, 'pages', PUBLIC), ...of(operatorUrl, 'operator pages', OPERATOR)]
}

function withField(field: string): Operation['body'] {
  return { type: 'object', properties: { [field]: { type: 'string' } }, required: [field] }
}
