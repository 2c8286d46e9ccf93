// Determines which of the two media types of GraphQL-over-HTTP a client accepts.

export const GRAPHQL_RESPONSE = 'application/graphql-response+json'
export const JSON_TYPE = 'application/json'
export type MediaType = typeof GRAPHQL_RESPONSE | typeof JSON_TYPE

/** The `Content-Type` of a response of this type. */
export function contentTypeOf(type: MediaType): string {
  return `${type}; charset=utf-8`
}

/** The media type that an `Accept` header prefers; JSON if it leaves the choice, null if it accepts neither. */
export function answerType(accept: string | undefined): MediaType | null {
  if (accept === undefined || accept === '*/*' || accept === JSON_TYPE) return JSON_TYPE
  const json = quality(accept, JSON_TYPE)
  const response = quality(accept, GRAPHQL_RESPONSE)
  if (json === 0 && response === 0) return null
  if (response > json) return GRAPHQL_RESPONSE
  if (json > response) return JSON_TYPE
  // Equal weights: the first one wins, because clients that support both list them by preference.
  const at = accept.indexOf(GRAPHQL_RESPONSE)
  const jsonAt = accept.indexOf(JSON_TYPE)
  return at >= 0 && (jsonAt < 0 || at < jsonAt) ? GRAPHQL_RESPONSE : JSON_TYPE
}

/** Whether a browser requests a page, rather than a client data. */
export function wantsPage(accept: string | undefined): boolean {
  return accept?.includes('text/html') === true && quality(accept, 'text/html') > 0
}

/** Weight of a media type in an `Accept` header by its most specific range; 0 if it is not accepted. */
function quality(accept: string, type: string): number {
  const family = `${type.split('/', 1)[0]}/*`
  let best = -1
  let weight = 0
  for (const part of accept.split(',')) {
    const [range = '', ...params] = part.split(';').map((piece) => piece.trim().toLowerCase())
    const specific = range === type ? 2 : range === family ? 1 : range === '*/*' ? 0 : -1
    if (specific <= best) continue
    best = specific
    const q = Number(params.find((param) => param.startsWith('q='))?.slice(2) ?? 1)
    weight = q >= 0 && q <= 1 ? q : 0
  }
  return weight
}
