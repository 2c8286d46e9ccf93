// The page of a tag: its operations with samples, parameters, bodies and errors, then the objects they use.
import { escapeHtml } from '../content/html.ts'
import { codeTabs, markdown } from '../content/markdown.ts'
import { type Document, type Endpoint, type Media, type Parameter, successOf } from './document.ts'
import { samplesOf, type SampleRules } from './samples.ts'
import { SchemaWriter } from './schema.ts'

/** Errors that most operations have: the overview explains them once. */
const COMMON = new Set([
  'UNAUTHENTICATED',
  'RATE_LIMITED',
  'PLAN_UPGRADE_REQUIRED',
  'READ_ONLY_KEY',
  'IDEMPOTENCY_CONFLICT',
  'INVALID_JSON',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
])

export function tagArticle(document: Document, tag: Document['tags'][number], endpoints: readonly Endpoint[], rules: SampleRules): string {
  const schemas = new SchemaWriter(document.components?.schemas ?? {})
  const contents = endpoints.map(({ method, path, operation }) => {
    const call = `<span class="method">${method}</span> <code>${escapeHtml(path)}</code>`
    return `<li><a href="#${operation.operationId}">${escapeHtml(operation.summary)}</a> ${call}</li>`
  })
  const operations = endpoints.map((endpoint) => operationSection(endpoint, rules, schemas))
  const notifications = tag.name === 'Webhook' ? notificationSections(document, schemas) : ''
  const objects = schemas.sections()
  return `<h1>${escapeHtml(tag.name)}</h1>
${markdown.render(tag.description ?? '')}
<ul class="contents">${contents.join('')}</ul>
${operations.join('\n')}
${notifications}
${objects === '' ? '' : `<h2 id="objects">Objects</h2>\n${objects}`}`
}

function operationSection(endpoint: Endpoint, rules: SampleRules, schemas: SchemaWriter): string {
  const { method, path, operation } = endpoint
  // The document's own curl sample is one of the three below.
  const about = (operation.description ?? '').replace(/(^|\n\n)```sh\n[\s\S]*$/, '')
  return `<section id="${operation.operationId}" class="operation">
<h2>${escapeHtml(operation.summary)}</h2>
<p class="call"><span class="method">${method}</span> <code>${escapeHtml(path)}</code></p>
<div class="about">${markdown.render(about)}
${parameterTable(operation.parameters ?? [], schemas)}
${bodyPart(operation.requestBody?.content ?? {}, schemas)}
${responsePart(endpoint, schemas)}
${errorTable(endpoint)}</div>
<div class="samples">${codeTabs(samplesOf(endpoint, rules))}
${exampleOf(endpoint)}</div>
</section>`
}

function parameterTable(parameters: readonly Parameter[], schemas: SchemaWriter): string {
  if (parameters.length === 0) return ''
  const rows = parameters.map(({ name, in: where, required, schema = {}, description = '' }) => {
    const must = required ? ', required' : ''
    const type = schemas.typeOf({ ...schema })
    return `<tr><td><code>${escapeHtml(name)}</code></td><td>${where}${must}</td><td>${type}</td><td>${markdown.renderInline(description)}</td></tr>`
  })
  return `<h3>Parameters</h3><table tabindex="0"><thead><tr><th>Name</th><th>In</th><th>Type</th><th>Meaning</th></tr></thead><tbody>${rows.join('')}</tbody></table>`
}

function bodyPart(content: Readonly<Record<string, Media>>, schemas: SchemaWriter): string {
  const types = Object.entries(content)
  if (types.length === 0) return ''
  const json = content['application/json']?.schema
  const fields = json ? schemas.fieldsOf(schemas.resolve(json)) || `<p>${schemas.typeOf(json)}</p>` : ''
  return `<h3>Body</h3><p>${types.map(([type]) => `<code>${escapeHtml(type)}</code>`).join(' or ')}</p>${fields}`
}

function responsePart({ operation }: Endpoint, schemas: SchemaWriter): string {
  const success = successOf(operation)
  if (!success) return `<h3>Response</h3><p>${Object.keys(operation.responses)[0]!}, without a body</p>`
  const { status, type, media } = success
  const { success: _flag, ...properties } = media.schema?.properties ?? {}
  const fields = schemas.fieldsOf({ ...media.schema, properties })
  return `<h3>Response</h3><p>${status} <code>${escapeHtml(type)}</code></p>${type === 'application/json' ? fields : ''}`
}

function exampleOf({ operation }: Endpoint): string {
  const example = successOf(operation)?.media.example
  if (example === undefined) return ''
  const text = typeof example === 'string' ? example : JSON.stringify(example, null, 2)
  return `<details open><summary>Example response</summary>${codeTabs([{ language: 'json', text }])}</details>`
}

/** Errors that are particular to the operation, each with a message as an example. */
function errorTable({ operation }: Endpoint): string {
  const rows = Object.entries(operation.responses).flatMap(([status, { content = {} }]) =>
    Object.entries(content['application/json']?.examples ?? {}).flatMap(([code, { value }]) => {
      if (Number(status) < 400 || COMMON.has(code)) return []
      const { message } = (value as { error: { message: string } }).error
      return [`<tr><td>${status}</td><td><code>${code}</code></td><td>${escapeHtml(message)}</td></tr>`]
    }),
  )
  if (rows.length === 0) return ''
  return `<h3>Errors</h3><table tabindex="0"><thead><tr><th>Status</th><th>Code</th><th>For example</th></tr></thead><tbody>${rows.join('')}</tbody></table>`
}

function notificationSections({ webhooks = {} }: Document, schemas: SchemaWriter): string {
  const parts = Object.entries(webhooks).map(([name, { post }]) => {
    const media = post.requestBody?.content['application/json']
    const example = media?.example === undefined ? '' : codeTabs([{ language: 'json', text: JSON.stringify(media.example, null, 1) }])
    return `<section id="notification-${name}"><h3>${escapeHtml(post.summary ?? name)}</h3>${markdown.render(post.description ?? '')}${schemas.fieldsOf(media?.schema ?? {})}${example}</section>`
  })
  return parts.length === 0 ? '' : `<h2 id="notifications">Notifications</h2>\n${parts.join('\n')}`
}
