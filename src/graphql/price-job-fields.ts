// Price jobs over GraphQL: what REST answers under /plus/price-jobs.
import { call } from '#core/verb.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { named, type Reason, textOf } from '#core/problems.ts'
import { invalid } from '#core/errors.ts'
import { applyPriceJob } from '#market/jobs/apply-price-job.ts'
import { getPriceJob } from '#market/jobs/get-price-job.ts'
import { listPriceJobs } from '#market/jobs/list-price-jobs.ts'
import { planPriceJob } from '#market/jobs/plan-price-job.ts'
import type { PriceJob, PriceJobRow, PriceJobSummary } from '#market/jobs/types.ts'
import { undoPriceJob } from '#market/jobs/undo-price-job.ts'
import { idOf, sent } from './arguments.ts'
import { type Builder, cost, fromDatabase, needing, type Refs } from './builder.ts'
import { camelCase } from './errors.ts'
import { callByFields } from './mutating.ts'
import { nullIfMissing } from './query.ts'

const ROWS_FIRST = { default: 100, max: 500 }
const JOBS_READ = { ...fromDatabase, ...needing(OPERATION_PLAN.listPriceJobs) }

type Job = PriceJobSummary & Partial<Pick<PriceJob, 'rows'>>
interface RowPage {
  rows: PriceJobRow[]
  hasNextPage: boolean
}
type Refusal = NonNullable<PriceJobRow['refused']>[number]

export function implementPriceJobs(builder: Builder, refs: Refs): void {
  const job = addTypes(builder, refs)
  builder.queryFields((t) => ({
    priceJobs: t.field({
      type: [job],
      nullable: { list: false, items: false },
      description: 'Your price jobs, newest first; kept for 90 days. Plus and Enterprise.',
      extensions: { ...cost({ weight: 10, entries: 20 }), ...JOBS_READ },
      args: {
        ruleId: t.arg.int({ description: 'Only the runs of this repricing rule.' }),
        page: t.arg.int({ description: 'Page number, from 1.' }),
        perPage: t.arg.int({ description: 'Jobs on a page, 1 to 100; 20 when not sent.' }),
      },
      resolve: async (_root, args, ctx, info) => (await callByFields(listPriceJobs, ctx, info, sent(args))).rows,
    }),
    priceJob: t.field({
      type: job,
      description: 'One of your price jobs; null where there is none with this id. Plus and Enterprise.',
      extensions: { ...cost({ weight: 10 }), ...JOBS_READ },
      args: { id: t.arg.id({ required: true, description: 'Id of the job.' }) },
      resolve: (_root, { id }, ctx) => call(getPriceJob, ctx, { id: idOf(id) as number }).catch(nullIfMissing),
    }),
  }))
  const row = builder.inputType('PriceJobRowInput', {
    description: 'New price, stock or both of one of your listings, named by id or SKU.',
    fields: (t) => ({
      listingId: t.id({ description: 'Id of the listing, or its SKU.' }),
      sku: t.string({ description: 'Your stock-keeping unit.' }),
      price: t.float({ description: 'In TL; stays when not sent.' }),
      quantity: t.int({ description: 'Units in stock; stay when not sent.' }),
    }),
  })
  builder.mutationFields((t) => {
    const id = t.arg.id({ required: true, description: 'Id of one of your price jobs.' })
    const path = (args: { id: string | number }) => ({ id: ['id', idOf(args.id)] }) as const
    return {
      planPriceJob: t.field({
        type: job,
        description: 'Plans new prices and stock of many listings; nothing changes until the job is applied, within 24 hours.',
        args: {
          rows: t.arg({ type: [row], required: true, description: '1 to 10,000 rows, as far as a request may hold them.' }),
          policy: t.arg.string({
            description: '`all` (when not sent): applied only if no row is refused; `good_rows`: refused rows are left out.',
          }),
        },
        resolve: (_root, { rows, policy }, ctx, info) =>
          callByFields(planPriceJob, ctx, info, { ...sent({ policy }), rows: rows.map(({ listingId, ...others }) => rowOf(listingId, others)) }),
      }),
      applyPriceJob: t.field({
        type: job,
        description: 'Applies a planned job: every row is judged again, and all of them commit at once.',
        args: { id },
        resolve: (_root, args, ctx, info) => callByFields(applyPriceJob, ctx, info, {}, path(args)),
      }),
      undoPriceJob: t.field({
        type: job,
        description: 'Undoes an applied job: listings that are as it left them get their old price and stock back.',
        args: { id },
        resolve: (_root, args, ctx, info) => callByFields(undoPriceJob, ctx, info, {}, path(args)),
      }),
    }
  })
}

function rowOf(listingId: string | number | null | undefined, others: object): object {
  return sent({ listing_id: listingId === null || listingId === undefined ? listingId : idOf(listingId), ...others })
}

function addTypes(builder: Builder, refs: Refs) {
  const refusal = builder.objectRef<Refusal>('PriceJobRefusal').implement({
    description: 'Why a row of a price job is refused.',
    fields: (t) => ({
      field: t.string({ nullable: false, description: 'The field that is wrong.', resolve: ({ field }) => camelCase(field) }),
      message: t.string({ nullable: false, description: 'What is allowed, for people.', resolve: (why) => message(why) }),
      rule: t.exposeString('rule', { description: 'Name of the rule that was broken; for programs.' }),
    }),
  })
  const row = builder.objectRef<PriceJobRow>('PriceJobRow').implement({
    description: 'A row of a price job.',
    fields: (t) => ({
      row: t.exposeInt('row', { nullable: false, description: 'Position in the job, from 1.' }),
      listingId: t.id({ description: 'Null where the row names no listing.', resolve: ({ listing_id: id }) => id }),
      sku: t.exposeString('sku', { nullable: true, description: 'Where the row names its listing by SKU.' }),
      oldPrice: t.exposeFloat('old_price', { nullable: true, description: 'When the job was planned, in TL.' }),
      newPrice: t.exposeFloat('new_price', { nullable: true, description: 'In TL; null where the price stays.' }),
      oldQuantity: t.exposeInt('old_quantity', { nullable: true, description: 'When the job was planned.' }),
      newQuantity: t.exposeInt('new_quantity', { nullable: true, description: 'Null where the stock stays.' }),
      payout: t.exposeFloat('payout', { nullable: true, description: 'What a sale of one unit would pay you, in TL.' }),
      rank: t.exposeInt('rank', {
        nullable: true,
        description:
          'Place by price among listings of other sellers with the same item and grade, 1 is cheapest; null where it would not be published.',
      }),
      refused: t.field({
        type: [refusal],
        nullable: { list: true, items: false },
        description: 'Why the row cannot be applied; null where it can.',
        extensions: cost({ entries: 1 }),
        resolve: (one) => one.refused,
      }),
      outcome: t.exposeString('outcome', {
        nullable: true,
        description: '`changed`, `reversed`, `kept` (the listing had changed since) or `failed`; null before the job is applied.',
      }),
      why: t.string({ description: 'Why it is kept or failed, for people.', resolve: ({ why }) => why && message(why) }),
    }),
  })
  const page = builder.objectRef<RowPage>('PriceJobRowConnection').implement({
    description: 'Rows of a price job in their order.',
    fields: (t) => ({
      nodes: t.field({ type: [row], nullable: { list: false, items: false }, description: 'The rows.', resolve: ({ rows }) => rows }),
      pageInfo: t.field({
        type: refs.pageInfo,
        nullable: false,
        description: 'Where the page ends.',
        resolve: ({ rows, hasNextPage }) => ({ hasNextPage, endCursor: () => rows.at(-1)?.row.toString() ?? null }),
      }),
    }),
  })
  return builder.objectRef<Job>('PriceJob').implement({
    description: 'New prices and stock of many of your listings, planned, applied and undone as one. Times are local, with their offset.',
    fields: (t) => ({
      id: t.exposeID('id', { nullable: false, description: 'Unique id.' }),
      state: t.exposeString('state', { nullable: false, description: '`planned`, `applied`, `undone` or `expired`.' }),
      policy: t.exposeString('policy', { nullable: false, description: '`all` or `good_rows`.' }),
      rowsTotal: t.exposeInt('rows_total', { nullable: false, description: 'How many rows it has.' }),
      ruleId: t.id({ description: 'The repricing rule whose run it is; null for others.', resolve: (of) => of.rule_id }),
      rowsRefused: t.exposeInt('rows_refused', { nullable: false, description: 'Rows that were refused when it was planned.' }),
      changed: t.exposeInt('changed', { nullable: false, description: 'Rows whose listing is as the job left it.' }),
      reversed: t.exposeInt('reversed', { nullable: false, description: 'Rows that the undo has reversed.' }),
      kept: t.exposeInt('kept', { nullable: false, description: 'Rows left alone, since their listing had changed.' }),
      failed: t.exposeInt('failed', { nullable: false, description: 'Rows refused when they were applied or reversed.' }),
      createdAt: t.exposeString('created_at', { nullable: false, description: 'When it was planned.' }),
      expiresAt: t.exposeString('expires_at', { nullable: false, description: 'Until when a plan can be applied.' }),
      appliedAt: t.exposeString('applied_at', { nullable: true, description: 'When it was applied.' }),
      undoneAt: t.exposeString('undone_at', { nullable: true, description: 'When it was undone.' }),
      rows: t.field({
        type: page,
        nullable: false,
        description: 'Its rows, with what each would do or did.',
        extensions: cost({ weight: 10, first: ROWS_FIRST }),
        args: {
          first: t.arg.int({ defaultValue: ROWS_FIRST.default, description: `Rows on the page, 1 to ${ROWS_FIRST.max}.` }),
          after: t.arg.string({ description: 'The `endCursor` of the page before.' }),
        },
        resolve: async ({ id, rows }, { first, after }, ctx) => rowPage(rows ?? (await call(getPriceJob, ctx, { id })).rows, first, after),
      }),
    }),
  })
}

/** @throws VALIDATION_ERROR */
function rowPage(rows: PriceJobRow[], first: number | null | undefined, after: string | null | undefined): RowPage {
  const limit = first ?? ROWS_FIRST.default
  if (limit < 1 || limit > ROWS_FIRST.max) throw invalid('first', 'integer', { min: 1, max: ROWS_FIRST.max })
  const from = after === null || after === undefined ? 0 : Number(/^\d{1,5}$/.exec(after)?.[0] ?? Number.NaN)
  if (Number.isNaN(from)) throw invalid('after', 'cursor')
  return { rows: rows.slice(from, from + limit), hasNextPage: from + limit < rows.length }
}

/** In the names of GraphQL. */
function message({ rule, params }: { rule?: string; params?: object }): string {
  return textOf(named({ rule, params } as Reason, { nameOf: camelCase }))
}
