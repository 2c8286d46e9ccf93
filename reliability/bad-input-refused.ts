// Values that every operation with such a field must refuse: years out of range, and invisible or direction-changing texts.
import type { Shape } from '#core/input.ts'
import { aboutOf, type BadRequest, type Operation } from './bad-input-rest.ts'
import { WRONG_DAYS, WRONG_NAMES, WRONG_TIMES } from './bad-input-values.ts'

/** Fields that contain a name or text for people. */
const NAMED = new Set(['name', 'title', 'label', 'reason'])

/** One request for each such field and value; other required fields are valid. */
export function requestsToRefuse(
  operations: readonly Operation[],
  fill: (operation: Operation) => { path: string; headers: [string, string][]; body: (shape: Shape) => Record<string, unknown> },
): BadRequest[] {
  return operations.flatMap((operation) => {
    const { group, url, method, parameters, body: shape, fields } = operation
    const { path, headers, body } = fill(operation)
    const request = (query: string, sent: object | null): BadRequest => ({
      group,
      about: [aboutOf(operation)],
      url,
      method,
      path: path + query,
      headers: sent === null ? headers : [...headers, ['content-type', 'application/json']],
      body: sent === null ? null : JSON.stringify(sent),
      fields,
    })
    const inQuery = parameters.flatMap(({ in: where, name, schema }) =>
      where === 'query' ? wrongTimesFor(schema).map((value) => request(`?${name}=${encodeURIComponent(value)}`, null)) : [],
    )
    const properties = Object.entries(shape?.properties ?? {})
    const inBody = properties.flatMap(([name, property]) => wrongFor(name, property).map((value) => request('', { ...body(shape!), [name]: value })))
    return method === 'GET' ? inQuery : inBody
  })
}

function wrongFor(name: string, shape: Shape): readonly string[] {
  const wrong = wrongTimesFor(shape)
  return wrong.length === 0 && NAMED.has(name) && shape.type === 'string' && !shape.enum ? WRONG_NAMES : wrong
}

function wrongTimesFor(shape: Shape): readonly string[] {
  const format = shape.format ?? shape.anyOf?.find((branch) => branch.format)?.format
  return format === 'date-time' ? WRONG_TIMES : format === 'date' ? WRONG_DAYS : []
}
