// Sample requests of an operation in curl, TypeScript and Python, built from its examples in the OpenAPI document.
import type { Code } from '../content/markdown.ts'
import type { Endpoint, Operation, Parameter } from './document.ts'

export interface SampleRules {
  /** address of the listener, as the document has it */
  url: string
  /** placeholder for the caller's credential */
  credential: string
  /** whether `@mintmark/client` has the operations */
  hasClient: boolean
}

/** One sample per language. */
export function samplesOf(endpoint: Endpoint, rules: SampleRules): Code[] {
  const call = callOf(endpoint)
  return [
    { language: 'sh', text: curl(call, rules) },
    { language: 'ts', text: rules.hasClient && call.upload === null ? clientCall(call, rules) : fetchCall(call, rules) },
    { language: 'python', text: python(call, rules) },
  ]
}

interface Call {
  method: string
  /** with parameters in braces */
  template: string
  path: Record<string, unknown>
  query: Record<string, unknown>
  /** undefined for none */
  body: unknown
  /** content type of a body that is a file */
  upload: string | null
  /** what the response has: `data`, or the bytes of a file */
  answer: 'data' | 'file' | 'none'
  /** whether it needs no credential */
  open: boolean
}

function callOf({ method, path, operation }: Endpoint): Call {
  const { description = '', parameters = [], requestBody, responses, security } = operation
  // Parameters have examples for themselves, too; the curl request in the description has those that belong together.
  const [, sent = ''] = /^curl (?:-X \w+ )?'[^'?]*\?([^']*)'/m.exec(description) ?? []
  const names = new URLSearchParams(sent)
  const sentIn = (place: Parameter['in']) => parameters.filter((one) => one.in === place && (place === 'path' || names.has(one.name)))
  const valuesOf = (chosen: readonly Parameter[]) => Object.fromEntries(chosen.map(({ name, example }) => [name, example]))
  const [type, media] = Object.entries(requestBody?.content ?? {})[0] ?? []
  const upload = type !== undefined && type !== 'application/json' ? type : null
  return {
    method,
    template: path,
    path: valuesOf(sentIn('path')),
    query: valuesOf(sentIn('query')),
    body: upload === null ? media?.example : undefined,
    upload,
    answer: answerOf(responses),
    open: security?.length === 0,
  }
}

function answerOf(responses: Operation['responses']): Call['answer'] {
  const successes = Object.entries(responses).filter(([status]) => Number(status) < 300)
  const contents = new Map(successes.flatMap(([, { content = {} }]) => Object.entries(content)))
  const json = contents.get('application/json')
  if (json) return json.schema?.properties?.data ? 'data' : 'none'
  return contents.size > 0 ? 'file' : 'none'
}

function urlOf({ template, path, query }: Call, url: string): string {
  const filled = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(path[name])))
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().map((one) => `${encodeURIComponent(name)}=${encodeURIComponent(String(one))}`),
  )
  return url + filled + (pairs.length > 0 ? `?${pairs.join('&')}` : '')
}

function curl(call: Call, { url, credential }: SampleRules): string {
  const quoted = (value: string) => `'${value.replaceAll("'", `'\\''`)}'`
  const lines = [
    `curl ${call.method === 'GET' ? '' : `-X ${call.method} `}${quoted(urlOf(call, url))}`,
    ...(call.open ? [] : [`-H ${quoted(`Authorization: Bearer ${credential}`)}`]),
  ]
  if (call.body !== undefined) lines.push("-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(call.body))}`)
  if (call.upload !== null) lines.push(`-H ${quoted(`Content-Type: ${call.upload}`)}`, '--data-binary @FILE')
  if (call.answer === 'file') lines.push('-o FILE')
  return lines.join(' \\\n  ')
}

function clientCall(call: Call, { url, credential }: SampleRules): string {
  const params = { ...(hasKeys(call.path) && { path: call.path }), ...(hasKeys(call.query) && { query: call.query }) }
  const options = {
    ...(hasKeys(params) && { params }),
    ...(call.body !== undefined && { body: call.body }),
    ...(call.answer === 'file' && { parseAs: 'blob' }),
  }
  const args = hasKeys(options) ? `, ${literal(options, TYPESCRIPT)}` : ''
  const result = { data: 'const { data } = ', file: 'const file = ', none: '' }[call.answer]
  return `import { Mintmark } from '@mintmark/client'

const mintmark = new Mintmark({ apiKey: '${credential}', baseUrl: '${url}' })

${result}await mintmark.${call.method.toLowerCase()}(${quote(call.template)}${args})`
}

function fetchCall(call: Call, { url, credential }: SampleRules): string {
  const type = call.upload ?? (call.body === undefined ? null : 'application/json')
  const headers = { ...(!call.open && { authorization: `Bearer ${credential}` }), ...(type !== null && { 'content-type': type }) }
  const lines = [
    ...(call.method === 'GET' ? [] : [`  method: '${call.method}',`]),
    ...(hasKeys(headers) ? [`  headers: ${literal(headers, TYPESCRIPT)},`] : []),
    ...(call.body === undefined ? [] : [`  body: JSON.stringify(${literal(call.body, TYPESCRIPT, '  ')}),`]),
    ...(call.upload === null ? [] : ["  body: await openAsBlob('FILE'),"]),
  ]
  const result = { data: '\nconst { data } = await response.json()', file: '\nconst file = await response.blob()', none: '' }[call.answer]
  return `${call.upload === null ? '' : "import { openAsBlob } from 'node:fs'\n\n"}const response = await fetch(${quote(urlOf(call, url))}, {
${lines.join('\n')}
})
if (!response.ok) throw new Error(await response.text())${result}`
}

function python(call: Call, { url, credential }: SampleRules): string {
  const address = urlOf({ ...call, query: {} }, url)
  const texts = Object.fromEntries(Object.entries(call.query).map(([name, value]) => [name, typeof value === 'boolean' ? String(value) : value]))
  const headers = { ...(!call.open && { Authorization: `Bearer ${credential}` }), ...(call.upload !== null && { 'Content-Type': call.upload }) }
  const lines = [
    quote(address),
    ...(hasKeys(headers) ? [`headers=${literal(headers, PYTHON, '    ')}`] : []),
    ...(hasKeys(texts) ? [`params=${literal(texts, PYTHON, '    ')}`] : []),
    ...(call.body === undefined ? [] : [`json=${literal(call.body, PYTHON, '    ')}`]),
    ...(call.upload === null ? [] : ["data=open('FILE', 'rb')"]),
  ]
  const result = { data: "\ndata = response.json()['data']", file: "\nopen('FILE', 'wb').write(response.content)", none: '' }[call.answer]
  return `import requests

response = requests.${call.method.toLowerCase()}(
${lines.map((line) => `    ${line},`).join('\n')}
)
response.raise_for_status()${result}`
}

function hasKeys(value: object): boolean {
  return Object.keys(value).length > 0
}

interface Notation {
  words: Record<string, string>
  key: (name: string) => string
  /** inside the braces of an object on one line */
  padding: string
  indent: string
}

const TYPESCRIPT: Notation = { words: {}, key: (name) => (/^[a-z_]\w*$/i.test(name) ? name : quote(name)), padding: ' ', indent: '  ' }
const PYTHON: Notation = { words: { true: 'True', false: 'False', null: 'None' }, key: quote, padding: '', indent: '    ' }

/** Values that fit into this many characters stay on one line. */
const LINE = 70

/** A JSON value in a language. */
function literal(value: unknown, notation: Notation, indent = ''): string {
  if (typeof value === 'string') return quote(value)
  if (typeof value !== 'object' || value === null) return notation.words[String(value)] ?? String(value)
  const { key, padding } = notation
  const inner = indent + notation.indent
  const parts = Array.isArray(value)
    ? value.map((one) => literal(one, notation, inner))
    : Object.entries(value).map(([name, one]) => `${key(name)}: ${literal(one, notation, inner)}`)
  const [open, close, space] = Array.isArray(value) ? ['[', ']', ''] : ['{', '}', padding]
  if (parts.length === 0) return open + close
  const line = `${open}${space}${parts.join(', ')}${space}${close}`
  if (line.length <= LINE && !line.includes('\n')) return line
  return `${open}\n${parts.map((part) => `${inner}${part},\n`).join('')}${indent}${close}`
}

/** A text in single quotes, valid in both languages. */
function quote(text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}
