// Paths that neither OpenAPI document has, nor GraphQL, nor the Model Context Protocol: pages, documents, health, console, metrics.
import type { Operation, Parameter } from './bad-input-rest.ts'

/** As they are registered, with values that are right for what the path names. */
const PUBLIC: Readonly<Record<string, readonly string[]>> = {
  '/': [],
  '/openapi.json': [],
  '/health/live': [],
  '/health/ready': [],
  '/changelog': [],
  '/llms.txt': [],
  '/client.js': [],
  '/docs': [],
  '/docs/*': ['index.html', 'static/swagger-ui.css', 'static/nothing'],
  '/docs/guides': [],
  '/docs/guides/search.json': [],
  '/docs/guides/assets/:name': ['guides.css', 'guides.js'],
  '/docs/guides/files/*': ['client/README.md', 'docs/operating.md'],
  '/docs/guides/:name': ['api-guide', 'api-guide.md', 'changelog'],
  '/graphql/assets/*': ['nothing.js'],
  '/sample/pictures/*': ['nothing.svg'],
}
const OPERATOR: Readonly<Record<string, readonly string[]>> = {
  '/': [],
  '/openapi.json': [],
  '/docs': [],
  '/docs/*': ['index.html', 'static/swagger-ui.css'],
  '/operator/openapi.json': [],
  '/metrics': [],
  '/console': [],
  '/console/*': ['index.html', 'assets/nothing.js', 'catalogue/items/1'],
  '/console/session': [],
}
/** The console's session is opened and ended, too. */
const SESSION = '/console/session'

/** Paths outside of the documents, as operations; `*` is the rest of a path. */
export function openOperations({ publicUrl, operatorUrl }: { publicUrl: string; operatorUrl: string }): Operation[] {
  const of = (url: string, group: string, paths: typeof PUBLIC): Operation[] =>
    Object.entries(paths).flatMap(([path, values]) =>
      (path === SESSION ? ['GET', 'POST', 'DELETE'] : ['GET']).map((method): Operation => {
        const filled = path.replace(/:(\w+)|\*/, (_all, name?: string) => `{${name ?? 'rest'}}`)
        const parameters: Parameter[] = [...filled.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
          name: name!,
          in: 'path',
          schema: { type: 'string', enum: [...values] },
        }))
        return { group, url, method, path: filled, parameters, body: method === 'POST' ? TOKEN : null, fields: [] }
      }),
    )
  return [...of(publicUrl, 'pages', PUBLIC), ...of(operatorUrl, 'operator pages', OPERATOR)]
}

const TOKEN: Operation['body'] = { type: 'object', properties: { token: { type: 'string' } }, required: ['token'] }
