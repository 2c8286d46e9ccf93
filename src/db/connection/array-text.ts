// Arrays as statement parameters in PostgreSQL's text form; the driver's own conversion escapes each element, also numbers.

const SPECIAL = /["\\]/
const ALL_SPECIAL = /["\\]/g

/** The text of a list of texts, numbers, booleans and nulls; any other value unchanged, for the driver to convert. */
export function parameterOf(value: unknown): unknown {
  if (!Array.isArray(value)) return value
  let text = '{'
  for (const [n, element] of value.entries()) {
    if (n > 0) text += ','
    if (typeof element === 'number' || typeof element === 'boolean') text += String(element)
    else if (typeof element === 'string') text += `"${SPECIAL.test(element) ? element.replace(ALL_SPECIAL, String.raw`\$&`) : element}"`
    else if (element === null || element === undefined) text += 'NULL'
    else return value
  }
  return `${text}}`
}
