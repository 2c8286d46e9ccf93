// `/llms.txt`: a short overview of the service for language models, in Markdown.
import { GUIDES_PATH } from './content/frame.ts'
import type { Guide } from './content/guides.ts'

/** An endpoint in the overview. */
export interface MappedEndpoint {
  method: string
  /** relative to `/api/v1`, with parameters as `:id` */
  path: string
  summary: string
  tag: string
}

/** Endpoints by group. */
export interface EndpointMap {
  tags: readonly { name: string; description: string }[]
  endpoints: readonly MappedEndpoint[]
}

/** @param url public address of the service */
export function llmsText(url: string, { tags, endpoints }: EndpointMap, guides: Iterable<Guide>): string {
  const groups = tags.map(({ name, description }) => {
    const lines = endpoints
      .filter(({ tag }) => tag === name)
      .map(({ method, path, summary }) => `- \`${method} /api/v1${path.replace(/:(\w+)/g, '{$1}')}\`: ${summary}`)
    return `## ${name}\n\n${description.split('\n', 1)[0]!}\n\n${lines.join('\n')}\n`
  })
  const links = Array.from(guides, ({ name, title }) => `- [${title}](${url}${GUIDES_PATH}/${name}.md)`)
  return `# Mintmark

> Prices of trading cards and sealed products by condition and grade, from several sources, over REST and GraphQL; a marketplace,
> collections and webhooks for sellers.

Send \`Authorization: Bearer <API_KEY>\` with every request. Responses are \`{"success": true, "data": ..., "pagination": ...}\`, errors \`{"success":
false, "error": {"code", "message", "details"}}\`. Rate limits are reported in the headers \`RateLimit\` and \`Retry-After\`.

## Documents

- [OpenAPI document](${url}/openapi.json): every endpoint with its schemas and examples
- GraphQL: \`POST ${url}/graphql\`, with introspection
- Model Context Protocol: \`POST ${url}/mcp\`, with the same key
${links.join('\n')}

${groups.join('\n')}`
}
