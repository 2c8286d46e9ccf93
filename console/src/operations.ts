// What each path of the operator API takes and answers: types alone, from its OpenAPI document.
import type { paths, SourceTrust } from './api-types.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** `/operator/v1/items/{id}` as the console writes it: `/items/${number}`. */
type Written<Path> = Path extends `/operator/v1${infer Rest}` ? Filled<Rest> : never
type Filled<Path extends string> = Path extends `${infer Start}{${infer Name}}${infer End}`
  ? `${Start}${Name extends 'market' ? SourceTrust['market'] : number}${Filled<End>}`
  : Path

type Operations<M extends Method> = {
  [Path in keyof paths as paths[Path][Lowercase<M>] extends object ? Written<Path> : never]: paths[Path][Lowercase<M>]
}

export type PathOf<M extends Method> = keyof Operations<M> & string
type Operation<M extends Method, P extends string> = Member<Operations<M>, P>

/** `data` of a successful answer. */
export type Data<M extends Method, P extends PathOf<M>> = DataOf<Operation<M, P>>
type DataOf<Op> = Op extends { responses: infer Responses } ? Member<JsonOf<Responses[keyof Responses]>, 'data'> : never

/** A body by the names and kinds of its fields; which texts are allowed is the service's to say, field by field. */
export type Body<M extends Method, P extends PathOf<M>> = BodyOf<Operation<M, P>>
type BodyOf<Op> = Op extends { requestBody?: infer RequestBody } ? Typed<JsonOf<NonNullable<RequestBody>>> : never
type Typed<Value> = Value extends string ? string : Value extends object ? { [Name in keyof Value]: Typed<Value[Name]> } : Value

/** The query parameters of a GET, as the address bar and forms have them. */
export type QueryOf<P extends PathOf<'GET'>> = { [Name in QueryName<P>]?: string | number }
export type QueryName<P extends PathOf<'GET'>> = NameOf<Operation<'GET', P>>
type NameOf<Op> = Op extends { parameters: { query?: infer Query } } ? keyof NonNullable<Query> & string : never

type Member<Holder, Name extends string> = Holder extends { [N in Name]: infer Value } ? Value : never
type JsonOf<Part> = Part extends { content: { 'application/json': infer Json } } ? Json : never
