// What resolvers get besides their source and arguments: what REST gets, so that mutations call the same verbs.
export type { PublicCtx as GraphqlCtx } from '#public-context.ts'
