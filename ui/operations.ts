// Types of the requests and responses of each path of an API, derived from its OpenAPI document.

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Describes an API: the types of its document, its path prefix, and path parameters that are not numbers. */
export interface Api {
  paths: object
  prefix: string
  parameters: object
}

/** `/operator/v1/items/{id}` as used in pages: `/items/${number}`. */
type Written<A extends Api, Path> = Path extends `${A['prefix']}${infer Rest}` ? Filled<A, Rest> : never
type Filled<A extends Api, Path extends string> = Path extends `${infer Start}{${infer Name}}${infer End}`
  ? `${Start}${Extract<Name extends keyof A['parameters'] ? A['parameters'][Name] : number, string | number>}${Filled<A, End>}`
  : Path

type Operations<A extends Api, M extends Method> = {
  [Path in keyof A['paths'] as A['paths'][Path] extends { [Name in Lowercase<M>]: object } ? Written<A, Path> : never]: Member<
    A['paths'][Path],
    Lowercase<M>
  >
}

export type PathOf<A extends Api, M extends Method> = keyof Operations<A, M> & string
type Operation<A extends Api, M extends Method, P extends string> = Member<Operations<A, M>, P>

/** `data` of a successful response. */
export type Data<A extends Api, M extends Method, P extends PathOf<A, M>> = DataOf<Operation<A, M, P>>
type DataOf<Op> = Op extends { responses: infer Responses } ? Member<JsonOf<Responses[keyof Responses]>, 'data'> : never

/**
 * A body by field names and types; the service validates allowed text values and reports problems by field. Query parameters of an operation may
 * be in the body, too.
 */
export type Body<A extends Api, M extends Method, P extends PathOf<A, M>> = BodyOf<Operation<A, M, P>>
type BodyOf<Op> = Op extends { requestBody?: infer RequestBody }
  ? [NonNullable<RequestBody>] extends [never]
    ? FieldsOf<Op>
    : Typed<JsonOf<NonNullable<RequestBody>>>
  : never
type FieldsOf<Op> = Op extends { parameters: { query?: infer Query } } ? Typed<NonNullable<Query>> : never
type Typed<Value> = Value extends string ? string : Value extends object ? { [Name in keyof Value]: Typed<Value[Name]> } : Value

/** Query parameters of a GET, as the address bar and forms hold them. */
export type QueryOf<A extends Api, P extends PathOf<A, 'GET'>> = { [Name in QueryName<A, P>]?: string | number | readonly (string | number)[] }
export type QueryName<A extends Api, P extends PathOf<A, 'GET'>> = NameOf<Operation<A, 'GET', P>>
/** Names by which the list of a GET can be sorted. */
export type SortOf<A extends Api, P extends PathOf<A, 'GET'>> = SortIn<Operation<A, 'GET', P>>
type SortIn<Op> = Op extends { parameters: { query?: infer Query } } ? SortByIn<NonNullable<Query>> : never
type SortByIn<Query> = 'sort_by' extends keyof Query ? Extract<Query['sort_by'], string> : never
type NameOf<Op> = Op extends { parameters: { query?: infer Query } } ? keyof NonNullable<Query> & string : never

type Member<Holder, Name extends string> = Holder extends { [N in Name]: infer Value } ? Value : never
type JsonOf<Part> = Part extends { content: { 'application/json': infer Json } } ? Json : never
