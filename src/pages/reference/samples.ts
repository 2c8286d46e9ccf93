// An operation's example as a request in curl, TypeScript and Python.
import type { Code } from '../markdown.ts'
import { type Endpoint, successOf } from './document.ts'

export interface SampleRules {
  /** address of the listener, as the document has it */
  url: string
  /** placeholder for the caller's credential */
  credential: string
  /** whether `@mintmark/client` has the operations */
  hasClient: boolean
}

/** The request of the example: its path, and what else it sends. */
interface Sent {
  path: Record<string, unknown>
  query: Record<string, unknown>
  body: { kind: 'none' } | { kind: 'json'; value: unknown } | { kind: 'file'; type: string }
  /** how the response is read */
  reads: 'json' | 'text' | 'bytes' | 'nothing'
}

export function samplesOf(endpoint: Endpoint, rules: SampleRules): Code[] {
  const sent = sentBy(endpoint)
  return [
    { language: 'sh', text: curl(endpoint, rules, sent) },
    { language: 'ts', text: rules.hasClient ? withClient(endpoint, sent) : withFetch(endpoint, rules, sent) },
    { language: 'python', text: withRequests(endpoint, rules, sent) },
  ]
}

function sentBy({ operation }: Endpoint): Sent {
  const shown = (where: string) =>
    Object.fromEntries(
      (operation.parameters ?? []).filter((one) => one.in === where && one.example !== undefined).map(({ name, example }) => [name, example]),
    )
  const [type, media] = Object.entries(operation.requestBody?.content ?? {})[0] ?? []
  const body: Sent['body'] =
    type === undefined || (type === 'application/json' && media!.example === undefined)
      ? { kind: 'none' }
      : type === 'application/json'
        ? { kind: 'json', value: media!.example }
        : { kind: 'file', type }
  const success = successOf(operation)
  return { path: shown('path'), query: shown('query'), body, reads: success ? readingOf(success) : 'nothing' }
}

function readingOf({ type, media }: NonNullable<ReturnType<typeof successOf>>): Sent['reads'] {
  // Some writes return only a message.
  if (type === 'application/json') return media.schema?.properties?.data ? 'json' : 'nothing'
  return type.startsWith('text/') ? 'text' : 'bytes'
}

function addressOf({ path }: Endpoint, { url }: SampleRules, sent: Sent): string {
  return url + path.replace(/\{(\w+)\}/g, (whole, name: string) => (name in sent.path ? encodeURIComponent(String(sent.path[name])) : whole))
}

function curl(endpoint: Endpoint, rules: SampleRules, sent: Sent): string {
  const pairs = Object.entries(sent.query).flatMap(([name, value]) => [value].flat().map((one): [string, string] => [name, String(one)]))
  const query = new URLSearchParams(pairs).toString().replaceAll('%5B%5D', '[]')
  const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
  const lines = [
    `curl ${endpoint.method === 'GET' ? '' : `-X ${endpoint.method} `}${quoted(addressOf(endpoint, rules, sent) + (query && `?${query}`))}`,
    `-H ${quoted(`Authorization: Bearer ${rules.credential}`)}`,
  ]
  // curl would take brackets for a range.
  if (query.includes('[]')) lines[0] = lines[0]!.replace('curl ', 'curl -g ')
  if (sent.body.kind === 'json') lines.push(`-H 'Content-Type: application/json' -d ${quoted(JSON.stringify(sent.body.value))}`)
  if (sent.body.kind === 'file') lines.push(`-H 'Content-Type: ${sent.body.type}' --data-binary @FILE`)
  if (sent.reads === 'bytes') lines.push('-O')
  return lines.join(' \\\n  ')
}

function withClient({ method, path, operation }: Endpoint, { path: inPath, query, body, reads }: Sent): string {
  const lists = Object.fromEntries((operation.parameters ?? []).flatMap(({ name, schema }) => (schema?.type === 'array' ? [[name, true]] : [])))
  const typed = Object.entries(query).map(([name, value]) => [name, lists[name] === true ? [value].flat() : value])
  const params = {
    ...(Object.keys(inPath).length > 0 && { path: inPath }),
    ...(typed.length > 0 && { query: Object.fromEntries(typed) as object }),
  }
  const options = [
    ...(Object.keys(params).length > 0 ? [`  params: ${literal(params)},`] : []),
    ...(body.kind === 'json' ? [`  body: ${literal(body.value, 1)},`] : []),
    ...(body.kind === 'file' ? ["  body: await readFile('FILE'),"] : []),
    ...(reads === 'text' ? ["  parseAs: 'text',"] : reads === 'bytes' ? ["  parseAs: 'stream',"] : []),
  ]
  const call = `await mintmark.${method.toLowerCase()}('${path}'${options.length > 0 ? `, {\n${options.join('\n')}\n}` : ''})`
  return reads === 'json' ? `const { data } = ${call}` : reads === 'nothing' ? call : `const content = ${call}`
}

function withFetch(endpoint: Endpoint, rules: SampleRules, sent: Sent): string {
  const pairs = Object.entries(sent.query).flatMap(([name, value]) => [value].flat().map((one) => [name, String(one)]))
  const type = sent.body.kind === 'json' ? 'application/json' : sent.body.kind === 'file' ? sent.body.type : null
  const headers = { authorization: `Bearer ${rules.credential}`, ...(type !== null && { 'content-type': type }) }
  const address = `'${addressOf(endpoint, rules, sent)}'`
  const lines = [
    ...(pairs.length > 0 ? [`const query = new URLSearchParams(${literal(pairs)})`] : []),
    `const response = await fetch(${pairs.length > 0 ? `\`${address.slice(1, -1)}?\${query}\`` : address}, {`,
    ...(endpoint.method === 'GET' ? [] : [`  method: '${endpoint.method}',`]),
    `  headers: ${literal(headers)},`,
    ...(sent.body.kind === 'json' ? [`  body: JSON.stringify(${literal(sent.body.value, 1)}),`] : []),
    ...(sent.body.kind === 'file' ? ["  body: await readFile('FILE'),"] : []),
    '})',
    'if (!response.ok) throw new Error(await response.text())',
    ...(sent.reads === 'json' ? ['const { data } = await response.json()'] : []),
    ...(sent.reads === 'text' ? ['const content = await response.text()'] : []),
    ...(sent.reads === 'bytes' ? ['const content = await response.bytes()'] : []),
  ]
  return lines.join('\n')
}

function withRequests(endpoint: Endpoint, rules: SampleRules, sent: Sent): string {
  const headers = { Authorization: `Bearer ${rules.credential}`, ...(sent.body.kind === 'file' && { 'Content-Type': sent.body.type }) }
  const lines = [
    'import requests',
    '',
    `response = requests.${endpoint.method.toLowerCase()}(`,
    `    ${python(addressOf(endpoint, rules, sent))},`,
    `    headers=${python(headers)},`,
    ...(Object.keys(sent.query).length > 0 ? [`    params=${python(sent.query)},`] : []),
    ...(sent.body.kind === 'json' ? [`    json=${python(sent.body.value)},`] : []),
    ...(sent.body.kind === 'file' ? ["    data=open('FILE', 'rb'),"] : []),
    ')',
    'response.raise_for_status()',
    ...(sent.reads === 'json' ? ["print(response.json()['data'])"] : []),
    ...(sent.reads === 'text' ? ['print(response.text)'] : []),
    ...(sent.reads === 'bytes' ? ["open('FILE', 'wb').write(response.content)"] : []),
  ]
  return lines.join('\n')
}

/** A value as TypeScript, on one line if it is short. */
function literal(value: unknown, depth = 0): string {
  if (typeof value === 'string') return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`
  if (typeof value !== 'object' || value === null) return String(value)
  const parts = Array.isArray(value)
    ? value.map((one) => literal(one, depth + 1))
    : Object.entries(value).map(([name, one]) => `${/^[a-z_]\w*$/i.test(name) ? name : `'${name}'`}: ${literal(one, depth + 1)}`)
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{ ', ' }']
  const line = open + parts.join(', ') + close
  if (line.length < 90 && !line.includes('\n')) return parts.length > 0 ? line : line.replaceAll(' ', '')
  const indent = '  '.repeat(depth)
  return `${open.trim()}\n${parts.map((part) => `${indent}  ${part},\n`).join('')}${indent}${close.trim()}`
}

/** A value as Python: JSON, except for three names. */
function python(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(python).join(', ')}]`
  if (typeof value === 'object' && value !== null) {
    return `{${Object.entries(value)
      .map(([name, one]) => `${JSON.stringify(name)}: ${python(one)}`)
      .join(', ')}}`
  }
  return value === null ? 'None' : value === true ? 'True' : value === false ? 'False' : JSON.stringify(value)
}
