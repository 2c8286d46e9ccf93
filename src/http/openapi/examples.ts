// Adds requests recorded on a demo, with their responses, to an OpenAPI document: one for every operation, and one for
// every error that it can return. test/spec/reference.test.ts records them.
import { readFileSync } from 'node:fs'
import { ERROR_STATUS, type ErrorCode } from '#core/errors.ts'

/** One request and its response, in the order of recording. */
export interface Example {
  /** method and address */
  request: string
  body?: unknown
  /** a body that is not JSON, or is malformed */
  text?: string
  /** a body that is a file without text, in base64 */
  file?: string
  headers?: Record<string, string>
  /** the caller, if not a Plus key or an operator token */
  as?: 'starter' | 'nobody'
  /** repeat the request until it returns its status, or until it returns data */
  until?: 'status' | 'data'
  /** why it is not recorded again */
  unsent?: string
  status: number
  /** lists are cut to two entries, secrets are replaced */
  answer: unknown
}

export const EXAMPLES = JSON.parse(readFileSync(new URL('examples.json', import.meta.url), 'utf8')) as Example[]

/** The body as it is sent; undefined for none. */
export function sentBody({ body, text, file }: Example): string | Buffer | undefined {
  if (file !== undefined) return Buffer.from(file, 'base64')
  return text ?? (body === undefined ? undefined : JSON.stringify(body))
}

interface Media {
  example?: unknown
  examples?: Record<string, { summary: string; value: unknown }>
}

interface Operation {
  description?: string
  parameters?: { in: string; name: string; schema?: { type?: string; items?: { type?: string } }; example?: unknown }[]
  requestBody?: { content: Record<string, Media> }
  responses: Record<string, { content?: Record<string, Media> }>
  /** empty: no credential is needed */
  security?: object[]
  'x-error-codes'?: ErrorCode[]
}

export interface OpenApi {
  paths: Record<string, Record<string, Operation>>
}

export interface ExampleRules {
  /** address of the listener, without a path */
  url: string
  /** placeholder for the caller's credential */
  credential: string
}

/** Adds the examples to a document, in place. */
export function addExamples(document: OpenApi, rules: ExampleRules): void {
  // A path without parameters wins over one whose parameter would also match.
  const paths = Object.keys(document.paths).sort((a, b) => a.split('{').length - b.split('{').length)
  const patterns = paths.map((path) => ({ path, pattern: new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '([^/]+)')}$`) }))
  const own = new Map<Operation, Example[]>()
  for (const example of EXAMPLES) {
    const [method = '', address = ''] = example.request.split(' ')
    const { pathname } = new URL(address, rules.url)
    const fitting = patterns.filter(({ pattern }) => pattern.test(pathname))
    const operation = fitting.map(({ path }) => document.paths[path]![method.toLowerCase()]).find((found) => found !== undefined)
    if (operation) own.set(operation, [...(own.get(operation) ?? []), example])
  }
  const all = [...own.values()].flat()
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const operation of Object.values(operations)) addTo(operation, path, own.get(operation) ?? [], all, rules)
  }
}

function addTo(operation: Operation, path: string, own: Example[], all: Example[], rules: ExampleRules): void {
  const success = own.find(({ status }) => status < 300)
  if (success) addSuccess(operation, path, success, rules)
  for (const code of operation['x-error-codes'] ?? []) {
    const found = [...own, ...all].find(({ answer }) => codeOf(answer) === code)
    const media = operation.responses[ERROR_STATUS[code]]?.content?.['application/json']
    if (found && media) media.examples = { ...media.examples, [code]: { summary: code, value: found.answer } }
  }
}

function addSuccess(operation: Operation, path: string, success: Example, rules: ExampleRules): void {
  const [, address = ''] = success.request.split(' ')
  const { pathname, searchParams } = new URL(address, rules.url)
  const names = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!)
  const values = new RegExp(`^${path.replace(/\{\w+\}/g, '([^/]+)')}$`).exec(pathname)?.slice(1) ?? []
  for (const parameter of operation.parameters ?? []) {
    const { schema: { type, items } = {} } = parameter
    const sent = parameter.in === 'path' ? [values[names.indexOf(parameter.name)]!] : searchParams.getAll(parameter.name)
    if (sent.length > 0) parameter.example = type === 'array' ? sent.map((text) => parameterValue(text, items?.type)) : parameterValue(sent[0]!, type)
  }
  const body = Object.values(operation.requestBody?.content ?? {})[0]
  if (body) body.example = success.text ?? success.body
  const response = operation.responses[success.status]
  // A text is the content of a file, or what a compressed file contains.
  const isFile = typeof success.answer === 'string'
  const shown = Object.entries(response?.content ?? {}).find(([type]) => (type !== 'application/json') === isFile)
  if (shown) shown[1].example = success.answer
  const curl = curlOf(success, operation.security?.length === 0 ? { ...rules, credential: null } : rules)
  operation.description = [operation.description, `\`\`\`sh\n${curl}\n\`\`\``].filter(Boolean).join('\n\n')
}

function parameterValue(text: string, type: string | undefined): unknown {
  if (type === 'boolean') return text === '1' || text === 'true'
  return type === 'integer' || type === 'number' ? Number(text) : text
}

function codeOf(answer: unknown): string | undefined {
  return (answer as { error?: { code: string } }).error?.code
}

/** The request as a shell command. @param rules a `credential` of null: none is needed */
export function curlOf(
  { request, body, text, file, headers }: Example,
  { url, credential }: Omit<ExampleRules, 'credential'> & { credential: string | null },
): string {
  const [method, address] = request.split(' ')
  const quoted = (value: string) => `'${value.replaceAll("'", `'\\''`)}'`
  const lines = [`curl ${method === 'GET' ? '' : `-X ${method} `}${quoted(url + address)}`]
  if (credential !== null) lines.push(`  -H ${quoted(`Authorization: Bearer ${credential}`)}`)
  if (body !== undefined) lines.push(`  -H 'Content-Type: application/json' -d ${quoted(JSON.stringify(body))}`)
  if (text !== undefined) lines.push("  -H 'Content-Type: application/octet-stream' --data-binary @FILE")
  if (file !== undefined) lines.push(`  -H ${quoted(`Content-Type: ${headers?.['content-type']}`)} --data-binary @FILE`)
  return lines.join(' \\\n')
}
