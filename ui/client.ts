// Typed reads, writes and lists for an API.
import { h, type VNode } from 'preact'
import { type Query, type Reply, request, type Sending } from './api.ts'
import { type DataOptions, type Loaded, useData, useUpload, useWrite, type Writing, writeNow } from './data.ts'
import type { Api, Body, Data, Method, PathOf, QueryName, QueryOf, SortOf } from './operations.ts'
import { type Column, type Filter, List, type ListProps } from './table.tsx'

/** A row of the list at a path. */
type RowOf<A extends Api, P extends PathOf<A, 'GET'>> = Data<A, 'GET', P> extends (infer Row)[] ? Row : never

type Write<A extends Api> = <M extends Method, P extends PathOf<A, M>>(
  method: M,
  path: P,
  json?: Body<A, M, P>,
  ifMatch?: string,
) => Promise<Reply<Data<A, M, P>> | null>

type Upload<A extends Api> = <P extends PathOf<A, 'POST'>>(path: P, csv: Blob, query?: Query) => Promise<Reply<Data<A, 'POST', P>> | null>

interface TypedListProps<A extends Api, P extends PathOf<A, 'GET'>>
  extends Omit<ListProps<RowOf<A, P>>, 'path' | 'filters' | 'fixed' | 'csv' | 'columns'> {
  path: P
  columns: Column<RowOf<A, P>, SortOf<A, P>>[]
  filters?: Filter<QueryName<A, P>>[]
  /** fixed filters */
  fixed?: QueryOf<A, P>
}

interface Client<A extends Api> {
  request: <M extends Method, P extends PathOf<A, M>>(method: M, path: P, sending?: Sending<Body<A, M, P>>) => Promise<Reply<Data<A, M, P>>>
  useData: <P extends PathOf<A, 'GET'>>(path: P | null, options?: DataOptions<Data<A, 'GET', P>, QueryOf<A, P>>) => Loaded<Data<A, 'GET', P>>
  useWrite: () => Writing<Write<A>>
  useUpload: () => Writing<Upload<A>>
  writeNow: <M extends Method, P extends PathOf<A, M>>(method: M, path: P, json?: Body<A, M, P>) => Promise<Reply<Data<A, M, P>> | null>
  List: <P extends PathOf<A, 'GET'>>(props: TypedListProps<A, P>) => VNode
}

/**
 * Binds the functions to the types of an API. Nothing is checked at run time, because the service validates everything.
 * @param csv whether the service returns each list as CSV
 */
export function clientOf<A extends Api>({ csv = false } = {}): Client<A> {
  const TypedList = csv ? (props: ListProps<unknown>) => h(List<unknown>, { ...props, csv }) : List
  return { request, useData, useWrite, useUpload, writeNow, List: TypedList } as unknown as Client<A>
}
